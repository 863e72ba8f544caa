// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"
	"encoding/json"

	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// maxDepth is how deep a document is looked into.
const maxDepth = 100

// json visits the strings and numbers of a JSON text, as far as it is one. Names
// of members that are like values, such as numbers, are as elements of an array.
func (r *Reader) json(text []byte) {
	w := jsonWalk{r: r, text: text}
	r.path = append(r.path[:0], '$')
	w.value(0)
}

// jsonWalk goes through a text from its beginning to its end, or to where it is
// no JSON.
type jsonWalk struct {
	r    *Reader
	text []byte
	at   int
}

// value passes over a value and reports whether it was whole.
func (w *jsonWalk) value(depth int) bool {
	w.space()
	if w.at == len(w.text) || depth > maxDepth || w.r.left == 0 {
		return false
	}
	place := Place{Kind: JSON}
	switch c := w.text[w.at]; {
	case c == '{':
		return w.within('}', depth, true)
	case c == '[':
		return w.within(']', depth, false)
	case c == '"':
		said, ok := w.string()
		if ok {
			w.r.value(place, w.r.path, said)
		}
		return ok
	case c == '-' || c >= '0' && c <= '9':
		from := w.at
		for w.at < len(w.text) && isOfNumber(w.text[w.at]) {
			w.at++
		}
		if w.at == len(w.text) && depth > 0 {
			return false // cut off
		}
		w.r.value(place, w.r.path, w.text[from:w.at])
		return true
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(w.text[w.at:], []byte(word)) {
			w.at += len(word)
			return true
		}
	}
	return false
}

func isOfNumber(c byte) bool {
	switch c {
	case '+', '-', '.', 'e', 'E':
		return true
	}
	return c >= '0' && c <= '9'
}

// within passes over an object or array.
func (w *jsonWalk) within(end byte, depth int, members bool) bool {
	w.at++
	length := len(w.r.path)
	for first := true; ; first = false {
		w.space()
		switch {
		case w.at == len(w.text):
			return false
		case w.text[w.at] == end:
			w.at++
			return true
		case !first && !w.skip(','):
			return false
		}
		if members {
			w.space()
			if w.at == len(w.text) || w.text[w.at] != '"' {
				return false
			}
			name, ok := w.string()
			if !ok {
				return false
			}
			if endpoint.IsIdentifier(name) {
				w.r.path = append(w.r.path, "[*]"...)
			} else {
				w.r.path = jsonpath.AppendName(w.r.path, name)
			}
			if w.space(); !w.skip(':') {
				return false
			}
		} else {
			w.r.path = append(w.r.path, "[*]"...)
		}
		if !w.value(depth + 1) {
			return false
		}
		w.r.path = w.r.path[:length]
	}
}

// string passes over a string and returns its text.
func (w *jsonWalk) string() (said []byte, ok bool) {
	from, escaped := w.at, false
	for w.at++; w.at < len(w.text); w.at++ {
		switch w.text[w.at] {
		case '\\':
			escaped = true
			w.at++
		case '"':
			w.at++
			said = w.text[from+1 : w.at-1]
			if escaped {
				var text string
				if json.Unmarshal(w.text[from:w.at], &text) != nil {
					return nil, false
				}
				said = []byte(text)
			}
			return said, true
		}
	}
	w.at = len(w.text)
	return nil, false
}

func (w *jsonWalk) space() {
	for w.at < len(w.text) && (w.text[w.at] == ' ' || w.text[w.at] == '\n' || w.text[w.at] == '\r' || w.text[w.at] == '\t') {
		w.at++
	}
}

func (w *jsonWalk) skip(c byte) bool {
	if w.at == len(w.text) || w.text[w.at] != c {
		return false
	}
	w.at++
	return true
}
