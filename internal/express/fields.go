// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Fields are header fields of answers, made once and sent many times. What
// frames an answer is not among them: Content-Length is always added, and
// Transfer-Encoding and Trailer are left out.
type Fields struct {
	lines  []byte
	server bool // there is a Server field, in place of Caddy's
	date   bool // and a Date
	altSvc bool // and an Alt-Svc
	close  bool // answers end their connection
}

// Add adds a line for a field. A name or value that would break the head is
// left out, as net/http does.
func (f *Fields) Add(name, value string) {
	switch {
	case !httpguts.ValidHeaderFieldName(name), !httpguts.ValidHeaderFieldValue(value):
		return
	case is(name, "Content-Length"), is(name, "Transfer-Encoding"), is(name, "Trailer"):
		return
	case is(name, "Connection") && httpguts.HeaderValuesContainsToken([]string{value}, "close"):
		f.close = true
		return
	case is(name, "Server"):
		f.server = true
	case is(name, "Date"):
		f.date = true
	case is(name, "Alt-Svc"):
		f.altSvc = true
	}
	f.lines = append(f.lines, name+": "+value+"\r\n"...)
}

func is(name, other string) bool { return len(name) == len(other) && strings.EqualFold(name, other) }
