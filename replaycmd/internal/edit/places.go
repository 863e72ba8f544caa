// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"net/url"
	"strings"
)

// Change returns the value that is to stand at a place in place of the one that
// does, and false to leave it.
type Change func(value string) (string, bool)

// Segment changes a segment of the path, counted from 1.
func (d *Draft) Segment(number int, change Change) {
	target := d.request.URI
	path, _ := cut(target, '?')
	from := 0
	if at := bytes.Index(path, []byte("://")); at >= 0 { // it names its server as well
		from = at + len("://")
	}
	for n := 0; ; n++ {
		length := bytes.IndexByte(path[from:], '/')
		to := from + length
		if length < 0 {
			to = len(path)
		}
		if n == number {
			value, err := url.PathUnescape(string(path[from:to]))
			if err != nil {
				return
			}
			if changed, ok := change(value); ok {
				d.SetTarget(splice(target, from, to, url.PathEscape(changed)))
			}
			return
		}
		if length < 0 {
			return
		}
		from = to + 1
	}
}

// Parameter changes the parameters of a name in the target.
func (d *Draft) Parameter(name string, change Change) {
	path, query := cut(d.request.URI, '?')
	if changed, ok := parameters(query, name, change); ok {
		d.SetTarget(append(append(append(make([]byte, 0, len(path)+1+len(changed)), path...), '?'), changed...))
	}
}

// Form changes the members of a name of a form in the body.
func (d *Draft) Form(name string, change Change) {
	switch d.kind {
	case "application/x-www-form-urlencoded":
		if changed, ok := parameters(d.Body(), name, change); ok {
			d.SetBody(changed)
		}
	case "multipart/form-data":
		d.multipart(name, change)
	}
}

// parameters changes those of a name, and reports whether one was.
func parameters(all []byte, name string, change Change) (out []byte, changed bool) {
	for i, pair := range bytes.Split(all, []byte("&")) {
		if i > 0 {
			out = append(out, '&')
		}
		key, value, found := bytes.Cut(pair, []byte("="))
		if found && unescaped(key) == name {
			if text, ok := change(unescaped(value)); ok {
				out = append(append(append(out, key...), '='), url.QueryEscape(text)...)
				changed = true
				continue
			}
		}
		out = append(out, pair...)
	}
	return out, changed
}

// unescaped returns what part of a query says; itself if that cannot be read.
func unescaped(text []byte) string {
	said, err := url.QueryUnescape(string(text))
	if err != nil {
		return string(text)
	}
	return said
}

// multipart changes the parts of a name of a multipart form, leaving all other
// bytes.
func (d *Draft) multipart(name string, change Change) {
	body := d.Body()
	quoted := []byte(`name="` + name + `"`)
	for at := 0; ; {
		n := bytes.Index(body[at:], quoted)
		if n < 0 {
			return
		}
		before := at + n
		at = before + len(quoted)
		if before > 0 && body[before-1] != ' ' && body[before-1] != ';' { // filename="…"
			continue
		}
		head := bytes.Index(body[at:], []byte("\r\n\r\n"))
		if head < 0 {
			return
		}
		from := at + head + 4
		end := bytes.Index(body[from:], []byte("\r\n--"))
		if end < 0 {
			return
		}
		if changed, ok := change(string(body[from : from+end])); ok {
			body = splice(body, from, from+end, changed)
			d.SetBody(body)
			end = len(changed)
		}
		at = from + end
	}
}

// Bearer changes the token of Authorization.
func (d *Draft) Bearer(change Change) {
	d.Fields(func(name, value []byte) ([]byte, bool) {
		scheme, token := cut(value, ' ')
		if strings.EqualFold(string(name), "Authorization") && strings.EqualFold(string(scheme), "Bearer") {
			if changed, ok := change(string(bytes.TrimSpace(token))); ok {
				return append(append(bytes.Clone(scheme), ' '), changed...), true
			}
		}
		return value, true
	})
}

// Field changes the header fields of a name.
func (d *Draft) Field(name string, change Change) {
	d.Fields(func(n, value []byte) ([]byte, bool) {
		if strings.EqualFold(string(n), name) {
			if changed, ok := change(string(value)); ok {
				return []byte(changed), true
			}
		}
		return value, true
	})
}

// Cookies passes each cookie to change, which returns the value that it is to
// have, and false to leave the cookie out.
func (d *Draft) Cookies(change func(name, value string) (changed string, keep bool)) {
	d.Fields(func(field, value []byte) ([]byte, bool) {
		if !strings.EqualFold(string(field), "Cookie") {
			return value, true
		}
		var out []byte
		same := true
		for pair := range bytes.SplitSeq(value, []byte(";")) {
			text := bytes.TrimLeft(pair, " \t")
			if name, said, found := bytes.Cut(text, []byte("=")); found {
				changed, keep := change(string(name), string(said))
				if !keep {
					same = false
					continue
				}
				if changed != string(said) {
					same = false
					pair = append(append(append(bytes.Clone(pair[:len(pair)-len(text)]), name...), '='), changed...)
				}
			}
			if len(out) > 0 {
				out = append(out, ';')
			} else {
				pair = bytes.TrimLeft(pair, " \t")
			}
			out = append(out, pair...)
		}
		if same {
			return value, true
		}
		return out, len(out) > 0
	})
}

// splice returns text with another part in place of one.
func splice(text []byte, from, to int, part string) []byte {
	out := make([]byte, 0, len(text)-(to-from)+len(part))
	return append(append(append(out, text[:from]...), part...), text[to:]...)
}

func cut(text []byte, at byte) (before, after []byte) {
	before, after, _ = bytes.Cut(text, []byte{at})
	return before, after
}
