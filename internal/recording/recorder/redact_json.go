// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// maxDepth is how deep a document is looked into.
const maxDepth = 1000

// places are where JSON has values that are left out, and where it has some that
// are hashed.
type places struct {
	constant, hashed *jsonpath.Set
	hash             func(string) string
	below            bool // of a place whose values are hashed
}

func (p places) none() bool { return p.constant == nil && p.hashed == nil && !p.below }

func (p places) child(name []byte) places {
	p.below = p.below || p.hashed.Here()
	p.constant, p.hashed = p.constant.Child(name), p.hashed.Child(name)
	return p
}

func (p places) element() places {
	p.below = p.below || p.hashed.Here()
	p.constant, p.hashed = p.constant.Element(), p.hashed.Element()
	return p
}

// redactJSON returns documents, one after the other, without the values at
// certain places. What follows a place that is no JSON, or too deep, is not
// returned, and the result not whole: it might be anything. A document that is
// cut off within a value is whole up to there.
func redactJSON(body []byte, at places) (without []byte, whole bool) {
	w := jsonWalk{body: body}
	for {
		w.space()
		if w.at == len(body) {
			break
		}
		if !w.value(at, 0) {
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
func (w *jsonWalk) value(at places, depth int) bool {
	w.space()
	if at.constant.Here() {
		return w.redact(depth)
	}
	if w.at == len(w.body) {
		return true // cut off
	}
	switch c := w.body[w.at]; {
	case depth == maxDepth:
		return false
	case c == '{':
		return w.object(at, depth+1)
	case c == '[':
		return w.array(at, depth+1)
	case at.below || at.hashed.Here():
		return w.hash(at.hash)
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
	ok := w.value(places{}, depth)
	if w.at > from {
		w.replace(from, `"`+redacted+`"`)
	}
	return ok
}

// replace writes text in place of what was passed over since from.
func (w *jsonWalk) replace(from int, text string) {
	w.out = append(append(w.out, w.body[w.copied:from]...), text...)
	w.copied = w.at
}

// hash replaces a string, number, true or false by its hash. null stays, a number
// stays one if its hash can be, with its exponent, and whether true and false
// change places is up to the key.
func (w *jsonWalk) hash(hash func(string) string) bool {
	from := w.at
	if w.body[from] == '"' {
		said, ok := w.text()
		switch {
		case !ok:
			return false
		case w.at == len(w.body) && (said == nil || w.body[w.at-1] != '"'): // cut off: it is another value
			w.replace(from, `"`+redacted+`"`)
		default:
			w.replace(from, `"`+hash(string(said))+`"`)
		}
		return true
	}
	if !w.scalar() {
		return false
	}
	value := string(w.body[from:w.at])
	switch value {
	case "null":
		return true
	case "true", "false":
		if hash("true")[0]&1 == 1 {
			w.replace(from, strconv.FormatBool(value == "false"))
		}
		return true
	}
	mantissa, exponent := value, ""
	if e := strings.IndexAny(value, "eE"); e > 0 && isNumber(value) {
		mantissa, exponent = value[:e], value[e:]
	}
	hashed := hash(mantissa) + exponent
	if !isNumber(value) || !isNumber(hashed) {
		hashed = `"` + hashed + `"`
	}
	w.replace(from, hashed)
	return true
}

func isNumber(text string) bool {
	return (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}

func (w *jsonWalk) object(at places, depth int) bool {
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
		if !w.skip(':') || !w.value(at.child(name), depth) {
			return false
		}
	}
}

func (w *jsonWalk) array(at places, depth int) bool {
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
		if !w.value(at.element(), depth) {
			return false
		}
	}
}

// text passes over a string and returns its text.
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
