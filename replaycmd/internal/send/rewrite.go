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

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Rewriter turns records into messages. Its zero value changes nothing but
// what belongs to the recorded connection and not to the request.
type Rewriter struct {
	// Host is the value of every Host field, unless it is empty. It implies
	// OriginForm.
	Host string
	// OriginForm makes a target that names its server as well a path and a
	// query, so that the Host field decides.
	OriginForm bool
	// Targets are changes of the target, one after another.
	Targets []Substitution
	// Set are fields that replace those of the same name.
	Set []Field
	// Remove are names of fields that are left out.
	Remove []string
	// Close makes every request ask to close its connection.
	Close bool
}

// Field is a header field.
type Field struct{ Name, Value string }

// ParseField parses a field written as `Name: value`.
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
	switch http1.FieldOf(name) {
	case http1.Host:
		return errors.New("the Host field is given with --host")
	case http1.ContentLength, http1.TransferEncoding:
		return fmt.Errorf("%s follows from the body", name)
	case http1.Connection, http1.HopByHop:
		return fmt.Errorf("%s belongs to the connection: see --no-keepalive", name)
	case http1.EndToEnd, http1.Trailer, http1.TE, http1.Expect, http1.Proxy:
	}
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("'%s' is not the name of a header field", name)
	}
	return nil
}

// Write writes the message of a record. The error for a record that is not a
// valid request is an http1.Error of kind Unsendable.
func (w *Rewriter) Write(m *Message, r *recording.Request) error {
	m.reset()
	if !http1.IsToken(r.Method) || !http1.IsTarget(r.URI) {
		return fail(http1.Unsendable, fmt.Errorf("'%s %s' is not a request line", r.Method, r.URI))
	}
	target := w.Target(r.URI)
	if len(w.Targets) > 0 && !http1.IsTarget(target) {
		return fail(http1.Unsendable, fmt.Errorf("'%s' is what --rewrite makes of '%s', and no target", target, r.URI))
	}
	m.Truncated = r.Truncated()
	recordedHost, options := connectionFields(r)
	if w.Host != "" {
		recordedHost = []byte(w.Host)
	}
	if !http1.IsLine(recordedHost) {
		return fail(http1.Unsendable, errors.New("its Host has a line break"))
	}

	out := m.wire
	out = append(append(append(out, r.Method...), ' '), target...)
	out = append(out, " HTTP/1.1\r\nHost: "...)
	m.hostAt = len(out)
	out = append(append(out, recordedHost...), crlf...)
	m.fieldsAt = len(out)
	framed := false
	m.Chunked = len(r.Trailers) > 0 || isChunked(r)
	for name, value := range recording.EachField(r.Headers) {
		if !http1.IsToken(name) || !http1.IsLine(value) {
			return fail(http1.Unsendable, fmt.Errorf("'%s' is not a header field", name))
		}
		switch http1.FieldOf(name) {
		case http1.Host, http1.Connection, http1.HopByHop:
			continue
		case http1.ContentLength, http1.TransferEncoding:
			if !framed {
				out = m.appendFraming(out, name, len(r.Body))
				framed = true
			}
			continue
		case http1.Trailer:
			if !m.Chunked {
				continue
			}
		case http1.EndToEnd, http1.TE, http1.Expect, http1.Proxy:
			if options != nil && options[lower(name)] {
				continue
			}
		}
		if !w.drops(name) {
			out = http1.AppendField(out, name, value)
		}
	}
	if !framed && (len(r.Body) > 0 || m.Chunked) {
		out = m.appendFraming(out, nil, len(r.Body))
	}
	for _, f := range w.Set {
		out = http1.AppendField(out, f.Name, f.Value)
	}
	if w.Close {
		out = append(out, "Connection: close\r\n"...)
	}
	out = append(out, crlf...)
	m.bodyAt = len(out)
	m.finish(out, r, len(target), len(recordedHost))
	return nil
}

// Target returns what the target of a record becomes.
func (w *Rewriter) Target(recorded []byte) []byte {
	target := recorded
	if w.OriginForm || w.Host != "" {
		target = http1.OriginForm(target)
	}
	for i := range w.Targets {
		target = w.Targets[i].apply(target)
	}
	return target
}

// finish appends the body and points the parts into the wire bytes.
func (m *Message) finish(out []byte, r *recording.Request, targetLen, hostLen int) {
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
			if http1.IsToken(name) && http1.IsLine(value) && http1.FieldOf(name) == http1.EndToEnd {
				out = http1.AppendField(out, name, value)
			}
		}
		trailersEnd = len(out)
		out = append(out, crlf...)
	}
	m.wire = out
	m.Method = out[:len(r.Method)]
	m.Target = out[len(r.Method)+1 : len(r.Method)+1+targetLen]
	m.Host = out[m.hostAt : m.hostAt+hostLen]
	m.Body = out[bodyAt : bodyAt+len(r.Body)]
	m.trailers = out[trailersAt:trailersEnd]
}

// appendFraming writes the field that frames the body, under the
// recorded spelling of its name if that is the right one.
func (m *Message) appendFraming(out, name []byte, length int) []byte {
	if m.Chunked {
		if http1.FieldOf(name) != http1.TransferEncoding {
			name = []byte("Transfer-Encoding")
		}
		return http1.AppendField(out, name, "chunked")
	}
	if http1.FieldOf(name) != http1.ContentLength {
		name = []byte("Content-Length")
	}
	out = append(append(out, name...), ": "...)
	return append(strconv.AppendInt(out, int64(length), 10), crlf...)
}

// drops reports whether fields of this name are removed or replaced.
func (w *Rewriter) drops(name []byte) bool {
	return slices.ContainsFunc(w.Remove, func(n string) bool { return strings.EqualFold(string(name), n) }) ||
		slices.ContainsFunc(w.Set, func(f Field) bool { return strings.EqualFold(string(name), f.Name) })
}

// connectionFields returns the record's host and the names, in lower case, of the
// fields that its Connection fields declare to be of the connection.
func connectionFields(r *recording.Request) (hostValue []byte, options map[string]bool) {
	for name, value := range recording.EachField(r.Headers) {
		switch http1.FieldOf(name) {
		case http1.Host:
			if hostValue == nil {
				hostValue = value
			}
		case http1.Connection:
			if bytes.EqualFold(value, keepAlive) || bytes.EqualFold(value, closes) {
				continue
			}
			if options == nil {
				options = make(map[string]bool)
			}
			for option := range bytes.SplitSeq(value, []byte(",")) {
				options[lower(bytes.TrimSpace(option))] = true
			}
		case http1.EndToEnd, http1.ContentLength, http1.TransferEncoding, http1.Trailer, http1.HopByHop, http1.TE, http1.Expect, http1.Proxy:
		}
	}
	if hostValue == nil {
		hostValue = r.Host
	}
	return hostValue, options
}

var keepAlive, closes = []byte("keep-alive"), []byte("close")

func lower(name []byte) string { return string(bytes.ToLower(name)) }

func isChunked(r *recording.Request) bool {
	for name := range recording.EachField(r.Headers) {
		if http1.FieldOf(name) == http1.TransferEncoding {
			return true
		}
	}
	return false
}
