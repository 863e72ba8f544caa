// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/json"
	"strconv"
	"strings"
)

// reader makes values of valid JSON that is not nested too deep: nil, bool,
// string, int64, float64, json.Number for what is larger, []any and *Object.
// Texts without escapes share the memory of what is read.
type reader struct {
	text  string
	at    int
	exact bool // numbers with a fraction stay as they are written
}

func (r *reader) value() any {
	r.space()
	switch r.text[r.at] {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.string()
	case 't':
		r.at += len("true")
		return true
	case 'f':
		r.at += len("false")
		return false
	case 'n':
		r.at += len("null")
		return nil
	}
	return r.number()
}

// space skips what stands between values.
func (r *reader) space() {
	for {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			r.at++
		default:
			return
		}
	}
}

func (r *reader) array() any {
	list := []any{}
	r.at++
	for {
		if r.space(); r.text[r.at] == ']' {
			r.at++
			return list
		}
		list = append(list, r.value())
	}
}

func (r *reader) object() any {
	o := new(Object)
	r.at++
	for {
		if r.space(); r.text[r.at] == '}' {
			r.at++
			return o
		}
		name := r.string()
		o.Set(name, r.value())
	}
}

func (r *reader) string() string {
	begin := r.at
	for i := begin + 1; ; i++ {
		switch r.text[i] {
		case '"':
			r.at = i + 1
			return r.text[begin+1 : i]
		case '\\':
			return r.escaped(begin, i)
		}
	}
}

// escaped reads a text that has an escape at a place.
func (r *reader) escaped(begin, i int) string {
	for ; r.text[i] != '"'; i++ {
		if r.text[i] == '\\' {
			i++
		}
	}
	r.at = i + 1
	var text string
	if json.Unmarshal([]byte(r.text[begin:r.at]), &text) != nil {
		return r.text[begin+1 : i]
	}
	return text
}

func (r *reader) number() any {
	end := r.at
	for end < len(r.text) && strings.IndexByte("+-.0123456789eE", r.text[end]) >= 0 {
		end++
	}
	text := r.text[r.at:end]
	r.at = end
	if r.exact && strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") {
		return json.Number(text)
	}
	return parseNumber(text)
}

// parseNumber returns the value of a number; what no number of Go's holds stays
// a text.
func parseNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return f
	}
	return json.Number(strings.NewReplacer("E", "e", "+", "").Replace(text))
}
