// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Bounds of what is read of one message.
const (
	maxContent  = 1 << 20 // bytes of the unpacked body
	maxValue    = 8 << 10 // bytes of a value; longer ones are passed over
	maxValues   = 4096    // values; the others are passed over
	maxInterned = 1 << 16 // names that are kept
)

// Reader reads values out of recorded messages. The zero value is ready; it is
// not for concurrent use.
type Reader struct {
	unpacker coding.Unpacker
	content  []byte // of a packed body
	scratch  []byte
	path     []byte // within JSON
	texts    []byte // of the items of a request
	boundary []byte // between the parts of a form

	names      map[string]string
	lately     [256]string       // of names, by a few of their bytes
	fieldNames map[string]string // as they were sent, to the one form

	visit func(Place, []byte)
	left  int // values that may be visited
}

// Request visits the values of a request, unescaped, in the order in which they
// stand there: segments of the path, parameters, fields, cookies, the body. A
// value is valid until visit returns.
func (r *Reader) Request(q *recording.Request, visit func(p Place, value []byte)) {
	r.begin(visit)
	path, query := splitTarget(q.URI)
	r.segments(path, Path, anySegment)
	r.parameters(query, Query)
	kind, codings := r.fields(q.Headers, func(name string, value []byte) {
		switch name {
		case "Cookie":
			for pair := range bytes.SplitSeq(value, []byte{';'}) {
				name, value, _ := bytes.Cut(bytes.TrimSpace(pair), []byte{'='})
				r.value(Place{Kind: Cookie}, name, unquoted(value))
			}
		case "Authorization":
			if token, ok := cutBearer(value); ok {
				r.value(Place{Kind: Bearer}, nil, token)
				return
			}
		}
		r.value(Place{Kind: Header, Name: name}, nil, value)
	})
	body := r.unpack(q.Body, codings)
	switch {
	case len(body) == 0:
	case isJSON(kind, body):
		r.json(body)
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		r.parameters(body, Form)
	case strings.HasPrefix(kind, "multipart/form-data"):
		r.parts(body, r.boundary)
	}
}

// Response visits the values of a response, as Request does those of a request:
// fields, cookies that are set, the target of a redirect, the body.
func (r *Reader) Response(a *recording.Response, visit func(p Place, value []byte)) {
	r.begin(visit)
	kind, codings := r.fields(a.Headers, func(name string, value []byte) {
		switch name {
		case "Set-Cookie":
			pair, _, _ := bytes.Cut(value, []byte{';'})
			name, value, _ := bytes.Cut(bytes.TrimSpace(pair), []byte{'='})
			r.value(Place{Kind: Cookie}, name, unquoted(value))
			return
		case "Location":
			path, query := splitTarget(value)
			r.segments(path, RedirectPath, anySegment)
			r.parameters(query, RedirectQuery)
		}
		r.value(Place{Kind: Header, Name: name}, nil, value)
	})
	body := r.unpack(a.Body, codings)
	switch {
	case len(body) == 0:
	case isJSON(kind, body):
		r.json(body)
	case strings.Contains(kind, "html"):
		r.html(body)
	}
}

// RequestValues returns the values at a place of a request.
func (r *Reader) RequestValues(q *recording.Request, at Place) (values []string) {
	r.Request(q, at.collect(&values))
	return values
}

// ResponseValues returns the values at a place of a response.
func (r *Reader) ResponseValues(a *recording.Response, at Place) (values []string) {
	r.Response(a, at.collect(&values))
	return values
}

func (p Place) collect(values *[]string) func(Place, []byte) {
	return func(place Place, value []byte) {
		if place == p {
			*values = append(*values, string(value))
		}
	}
}

func (r *Reader) begin(visit func(Place, []byte)) {
	r.visit, r.left = visit, maxValues
	if r.names == nil || len(r.names)+len(r.fieldNames) > maxInterned {
		r.names, r.fieldNames = make(map[string]string), make(map[string]string)
	}
}

// value visits a value, unless it is empty or too long. The name is taken if the
// place has none.
func (r *Reader) value(p Place, name, value []byte) {
	if len(value) == 0 || len(value) > maxValue || r.left == 0 {
		return
	}
	if name != nil {
		p.Name = r.name(name)
	}
	if p.Name == "" && (kinds[p.Kind].operand == aName || kinds[p.Kind].operand == aJSONPath) {
		return
	}
	r.left--
	r.visit(p, value)
}

// name returns a name as a string that is made once, "" if it is none that a
// place may have.
func (r *Reader) name(name []byte) string {
	if len(name) == 0 {
		return ""
	}
	lately := &r.lately[byte(len(name))*131+name[len(name)-1]*31+name[len(name)/2]]
	if string(name) == *lately {
		return *lately
	}
	if known, ok := r.names[string(name)]; ok {
		*lately = known
		return known
	}
	text := string(name)
	if !isName(text) {
		return ""
	}
	r.names[text] = text
	return text
}

// fields calls field with each header field in its canonical name, and returns
// the type of the body, in lower case, and how it is packed.
func (r *Reader) fields(headers []byte, field func(name string, value []byte)) (kind string, codings []byte) {
	for name, value := range recording.EachField(headers) {
		known, ok := r.fieldNames[string(name)]
		if !ok {
			known = canonical(string(name))
			if !isName(known) {
				continue
			}
			r.fieldNames[string(name)] = known
		}
		value = bytes.TrimRight(value, " \t")
		switch known {
		case "Content-Type":
			kind = strings.ToLower(string(value))
			r.boundary = parameterOf(value, "boundary")
		case "Content-Encoding":
			codings = append(append(codings, value...), ',')
		}
		field(known, value)
	}
	return kind, codings
}

// unpack returns the content of a body, as far as it is looked at. What is cut
// off or damaged is returned up to there.
func (r *Reader) unpack(body, codings []byte) []byte {
	if len(bytes.Trim(codings, ", ")) > 0 {
		content, _ := r.unpacker.Unpack(r.content, body, codings, maxContent)
		if len(content) > 0 && len(body) > 0 && &content[0] != &body[0] {
			r.content = content[:0]
		}
		body = content
	}
	return body[:min(len(body), maxContent)]
}

// isJSON reports whether a body is JSON by its type, or begins as an object or
// array: curl calls everything a form.
func isJSON(kind string, body []byte) bool {
	start := bytes.TrimLeft(body, " \t\r\n")
	return strings.Contains(kind, "json") || len(start) > 0 && (start[0] == '{' || start[0] == '[')
}

func cutBearer(value []byte) (token []byte, ok bool) {
	const scheme = "Bearer "
	if len(value) <= len(scheme) || !bytes.EqualFold(value[:len(scheme)], []byte(scheme)) {
		return nil, false
	}
	return bytes.TrimLeft(value[len(scheme):], " "), true
}

func unquoted(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}
