// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"encoding/json"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// maxDepth is how deep a document is looked into.
const maxDepth = 1000

// redactJSON returns documents, one after the other, without the values that
// paths lead to. What follows a place that is no JSON, or too deep, is not
// returned, and the result not whole: it might be anything. A document that is
// cut off within a value is whole up to there.
func redactJSON(body []byte, paths *jsonpath.Set) (without []byte, whole bool) {
	w := jsonWalk{body: body}
	for {
		w.space()
		if w.at == len(body) {
			break
		}
		if !w.value(paths, 0) {
			break
		}
	}
	if w.copied == 0 && w.at == len(body) {
		return body, true
	}
	return append(w.out, body[w.copied:w.at]...), w.at == len(body)
}

// jsonWalk goes through a document from its beginning to its end.
type jsonWalk struct {
	body   []byte
	at     int
	copied int    // what comes before it is in out, or was left out
	out    []byte // of it
}

// value passes over a value and reports whether it was one.
func (w *jsonWalk) value(paths *jsonpath.Set, depth int) bool {
	w.space()
	if paths.Here() {
		return w.redact(depth)
	}
	if w.at == len(w.body) {
		return true // cut off
	}
	switch c := w.body[w.at]; {
	case depth == maxDepth:
		return false
	case c == '{':
		return w.object(paths, depth+1)
	case c == '[':
		return w.array(paths, depth+1)
	case c == '"':
		_, ok := w.text()
		return ok
	default:
		return w.scalar()
	}
}

// redact replaces a value.
func (w *jsonWalk) redact(depth int) bool {
	from := w.at
	ok := w.value(nil, depth)
	if w.at > from {
		w.out = append(append(w.out, w.body[w.copied:from]...), `"`+redacted+`"`...)
		w.copied = w.at
	}
	return ok
}

func (w *jsonWalk) object(paths *jsonpath.Set, depth int) bool {
	w.at++
	for first := true; ; first = false {
		w.space()
		switch {
		case w.at == len(w.body):
			return true
		case w.body[w.at] == '}':
			w.at++
			return true
		case !first && !w.skip(','):
			return false
		}
		w.space()
		if w.at == len(w.body) {
			return true
		}
		if w.body[w.at] != '"' {
			return false
		}
		name, ok := w.text()
		if !ok {
			return false
		}
		w.space()
		if w.at == len(w.body) {
			return true
		}
		if !w.skip(':') || !w.value(paths.Child(name), depth) {
			return false
		}
	}
}

func (w *jsonWalk) array(paths *jsonpath.Set, depth int) bool {
	w.at++
	for first := true; ; first = false {
		w.space()
		switch {
		case w.at == len(w.body):
			return true
		case w.body[w.at] == ']':
			w.at++
			return true
		case !first && !w.skip(','):
			return false
		}
		if !w.value(paths.Element(), depth) {
			return false
		}
	}
}

// text passes over a string and returns what it says.
func (w *jsonWalk) text() (said []byte, ok bool) {
	from := w.at
	escaped := false
	for w.at++; w.at < len(w.body); w.at++ {
		switch w.body[w.at] {
		case '\\':
			escaped = true
			w.at++
		case '"':
			w.at++
			said = w.body[from+1 : w.at-1]
			if escaped {
				var text string
				if json.Unmarshal(w.body[from:w.at], &text) != nil {
					w.at = from
					return nil, false
				}
				said = []byte(text)
			}
			return said, true
		}
	}
	w.at = len(w.body) // cut off
	return nil, true
}

// scalar passes over a number or a name like true.
func (w *jsonWalk) scalar() bool {
	n := bytes.IndexAny(w.body[w.at:], ",:]}[{\" \t\r\n")
	if n < 0 {
		n = len(w.body) - w.at
	}
	w.at += n
	return n > 0
}

func (w *jsonWalk) space() {
	for w.at < len(w.body) && (w.body[w.at] == ' ' || w.body[w.at] == '\n' || w.body[w.at] == '\r' || w.body[w.at] == '\t') {
		w.at++
	}
}

func (w *jsonWalk) skip(c byte) bool {
	if w.body[w.at] != c {
		return false
	}
	w.at++
	return true
}
