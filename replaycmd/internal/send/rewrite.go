// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Rewriter turns records into messages. Its zero value changes nothing but
// what belongs to the recorded connection and not to the request.
type Rewriter struct {
	Host   string   // the value of every Host field, unless it is empty
	Set    []Field  // fields that replace those of the same name
	Remove []string // names of fields that are left out
	Close  bool     // every request asks to close its connection
}

// Field is a header field.
type Field struct{ Name, Value string }

// ParseField reads a field written as `Name: value`.
func ParseField(text string) (Field, error) {
	name, value, found := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
		return Field{}, fmt.Errorf("'%s' is not a header field: expected 'Name: value'", text)
	}
	return Field{name, value}, CheckName(name)
}

// CheckName refuses names of fields that other options decide.
func CheckName(name string) error {
	switch kindOf([]byte(name)) {
	case hostField:
		return errors.New("the Host field is given with --host")
	case contentLength, transferEncoding:
		return fmt.Errorf("%s follows from the body", name)
	case connectionField:
		return fmt.Errorf("%s belongs to the connection: see --no-keepalive", name)
	case trailer, plain:
	}
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("'%s' is not the name of a header field", name)
	}
	return nil
}

// Write makes the message of a record. A record that is no valid request is an
// Error of kind Unsendable.
func (w *Rewriter) Write(m *Message, r *recording.Request) error {
	m.reset()
	if !isToken(r.Method) || !isTarget(r.URI) {
		return fail(Unsendable, fmt.Errorf("'%s %s' is no request line", r.Method, r.URI))
	}
	m.Truncated = r.Truncated()
	recordedHost, options := connectionFields(r)
	if w.Host != "" {
		recordedHost = []byte(w.Host)
	}
	if !clean(recordedHost) {
		return fail(Unsendable, errors.New("its Host has a line break"))
	}

	out := m.wire
	out = append(append(append(out, r.Method...), ' '), r.URI...)
	out = append(out, " HTTP/1.1\r\nHost: "...)
	m.hostAt = len(out)
	out = append(append(out, recordedHost...), crlf...)
	m.fieldsAt = len(out)
	framed := false
	m.Chunked = len(r.Trailers) > 0 || isChunked(r)
	for name, value := range recording.EachField(r.Headers) {
		if !isToken(name) || !clean(value) {
			return fail(Unsendable, fmt.Errorf("'%s' is no header field", name))
		}
		switch kindOf(name) {
		case hostField, connectionField:
			continue
		case contentLength, transferEncoding:
			if !framed {
				out = m.appendFraming(out, name, len(r.Body))
				framed = true
			}
			continue
		case trailer:
			if !m.Chunked {
				continue
			}
		case plain:
			if options != nil && options[lower(name)] {
				continue
			}
		}
		if !w.drops(name) {
			out = appendField(out, name, value)
		}
	}
	if !framed && (len(r.Body) > 0 || m.Chunked) {
		out = m.appendFraming(out, nil, len(r.Body))
	}
	for _, f := range w.Set {
		out = appendField(out, []byte(f.Name), []byte(f.Value))
	}
	if w.Close {
		out = append(out, "Connection: close\r\n"...)
	}
	out = append(out, crlf...)
	m.bodyAt = len(out)
	m.finish(out, r, len(recordedHost))
	return nil
}

// finish appends the body and points the parts into the wire bytes.
func (m *Message) finish(out []byte, r *recording.Request, hostLen int) {
	bodyAt, trailersAt, trailersEnd := len(out), 0, 0
	if !m.Chunked {
		out = append(out, r.Body...)
	} else {
		if len(r.Body) > 0 {
			out = append(strconv.AppendInt(out, int64(len(r.Body)), 16), crlf...)
			bodyAt = len(out)
			out = append(append(out, r.Body...), crlf...)
		}
		out = append(out, "0\r\n"...)
		trailersAt = len(out)
		for name, value := range recording.EachField(r.Trailers) {
			if isToken(name) && clean(value) && kindOf(name) == plain {
				out = appendField(out, name, value)
			}
		}
		trailersEnd = len(out)
		out = append(out, crlf...)
	}
	m.wire = out
	m.Method = out[:len(r.Method)]
	m.Target = out[len(r.Method)+1 : len(r.Method)+1+len(r.URI)]
	m.Host = out[m.hostAt : m.hostAt+hostLen]
	m.Body = out[bodyAt : bodyAt+len(r.Body)]
	m.trailers = out[trailersAt:trailersEnd]
}

// appendFraming writes the field that says where the body ends, under the
// recorded spelling of its name if that is the right one.
func (m *Message) appendFraming(out, name []byte, length int) []byte {
	if m.Chunked {
		if kindOf(name) != transferEncoding {
			name = []byte("Transfer-Encoding")
		}
		return appendField(out, name, []byte("chunked"))
	}
	if kindOf(name) != contentLength {
		name = []byte("Content-Length")
	}
	out = append(append(out, name...), ": "...)
	return append(strconv.AppendInt(out, int64(length), 10), crlf...)
}

// drops says whether fields of this name are removed or replaced.
func (w *Rewriter) drops(name []byte) bool {
	return slices.ContainsFunc(w.Remove, func(n string) bool { return equalFold(name, n) }) ||
		slices.ContainsFunc(w.Set, func(f Field) bool { return equalFold(name, f.Name) })
}

// connectionFields gives the record's host and the names, in lower case, of the
// fields that its Connection fields declare to be of the connection.
func connectionFields(r *recording.Request) (hostValue []byte, options map[string]bool) {
	for name, value := range recording.EachField(r.Headers) {
		switch kindOf(name) {
		case hostField:
			if hostValue == nil {
				hostValue = value
			}
		case connectionField:
			if equalFold(name, "connection") && !equalFold(value, "keep-alive") && !equalFold(value, "close") {
				if options == nil {
					options = make(map[string]bool)
				}
				for option := range bytes.SplitSeq(value, []byte(",")) {
					options[lower(bytes.TrimSpace(option))] = true
				}
			}
		case contentLength, transferEncoding, trailer, plain:
		}
	}
	if hostValue == nil {
		hostValue = r.Host
	}
	return hostValue, options
}

func lower(name []byte) string { return string(bytes.ToLower(name)) }

func isChunked(r *recording.Request) bool {
	for name := range recording.EachField(r.Headers) {
		if kindOf(name) == transferEncoding {
			return true
		}
	}
	return false
}

func appendField(out, name, value []byte) []byte {
	out = append(append(out, name...), ": "...)
	return append(append(out, value...), crlf...)
}
