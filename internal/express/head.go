// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// Field is one header field of a request as it was sent, without the white
// space around its value.
type Field struct {
	Name, Value string
}

// Is reports whether the field has a name, whatever its letters' case.
func (f *Field) Is(name string) bool { return is(f.Name, name) }

// Head is the head of a plain HTTP/1.1 request.
type Head struct {
	Method string
	Target string // as it was sent: a path and, maybe, a query
	Path   string // of the target, decoded
	Query  string // of the target, as it was sent, without the question mark
	Host   string
	Fields []Field // in the order they were sent, Host among them
	Length int64   // of the body

	raw         string // all of it, to the empty line; the strings above are parts of it
	close       bool   // the client asks for no more than this response
	seenHost    bool
	seenContent bool // a Content-Length
}

// Get returns the value of a field, of its first line if there are several, and
// "" without one. The case of the name does not matter.
func (h *Head) Get(name string) string {
	for i := range h.Fields {
		if h.Fields[i].Is(name) {
			return h.Fields[i].Value
		}
	}
	return ""
}

func (h *Head) has(name string) bool {
	return slices.ContainsFunc(h.Fields, func(f Field) bool { return f.Is(name) })
}

// Values returns the values of all lines of a field, in their order.
func (h *Head) Values(name string) []string {
	var values []string
	for i := range h.Fields {
		if h.Fields[i].Is(name) {
			values = append(values, h.Fields[i].Value)
		}
	}
	return values
}

// maxMethod is the length from which Caddy refuses a method.
const maxMethod = 32

// parse takes a complete head apart. It reports false for every head that is
// not plain: malformed, ambiguous, or asking for more than a response.
func (h *Head) parse(raw string) bool {
	*h = Head{raw: raw, Fields: h.Fields[:0]}
	line, rest, ok := strings.Cut(raw, "\r\n")
	if !ok || !h.requestLine(line) {
		return false
	}
	for {
		line, rest, ok = strings.Cut(rest, "\r\n")
		if !ok {
			return false
		}
		if line == "" {
			return rest == "" && h.seenHost
		}
		if !h.field(line) {
			return false
		}
	}
}

func (h *Head) requestLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, proto, _ := strings.Cut(rest, " ")
	if proto != "HTTP/1.1" || method == "CONNECT" || len(method) > maxMethod || !httpguts.ValidHeaderFieldName(method) {
		return false
	}
	h.Method, h.Target = method, target
	return h.plainTarget()
}

// challenges is the path of ACME's HTTP challenges, which any server of Caddy
// answers ahead of its routes.
const challenges = "/.well-known/acme-challenge/"

// plainTarget accepts a path and a query in visible ASCII. Other forms of
// target are Caddy's to judge, and so are challenges.
func (h *Head) plainTarget() bool {
	if h.Target == "" || h.Target[0] != '/' {
		return false
	}
	for i := range len(h.Target) {
		if h.Target[i] <= ' ' || h.Target[i] >= 0x7f {
			return false
		}
	}
	h.Path, h.Query, _ = strings.Cut(h.Target, "?")
	if strings.Contains(h.Path, "%") {
		path, err := url.PathUnescape(h.Path)
		if err != nil {
			return false
		}
		h.Path = path
	}
	return !strings.HasPrefix(h.Path, challenges)
}

func (h *Head) field(line string) bool {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !httpguts.ValidHeaderFieldName(name) {
		return false
	}
	value = strings.Trim(value, " \t")
	if !httpguts.ValidHeaderFieldValue(value) {
		return false
	}
	if strings.ContainsAny(name, "_.") {
		return true // Caddy hides such fields from handlers
	}
	h.Fields = append(h.Fields, Field{name, value})
	return h.meaning(name, value)
}

// meaning acts on the fields that say how a request is to be read.
func (h *Head) meaning(name, value string) bool {
	switch http1.FieldOf(name) {
	case http1.Host:
		if h.seenHost || !plainHost(value) {
			return false
		}
		h.Host, h.seenHost = value, true
	case http1.ContentLength:
		length, ok := plainLength(value)
		if h.seenContent || !ok {
			return false
		}
		h.Length, h.seenContent = length, true
	case http1.Connection:
		if strings.EqualFold(value, "close") {
			h.close = true
			return true
		}
		return strings.EqualFold(value, "keep-alive")
	case http1.Expect, http1.Trailer, http1.TransferEncoding:
		return false // they need more than a response
	case http1.HopByHop:
		return !is(name, "Upgrade")
	case http1.EndToEnd, http1.TE, http1.Proxy:
	}
	return true
}

// plainHost accepts names, addresses and ports, and no name made of dots only.
func plainHost(host string) bool {
	named := false
	for i := range len(host) {
		c := host[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			named = true
		case c != '.' && c != ':' && c != '[' && c != ']':
			return false
		}
	}
	return named
}

// plainLength parses digits and nothing else, few enough to fit.
func plainLength(value string) (length int64, ok bool) {
	if value == "" || len(value) > 18 {
		return 0, false
	}
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return 0, false
		}
		length = length*10 + int64(value[i]-'0')
	}
	return length, true
}
