// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// redacted stands for a value that is not recorded.
const redacted = "REDACTED"

// urlFields are header fields whose values are targets, or URLs with one.
var urlFields = []string{"Referer", "Location", "Content-Location", "X-Original-URI", "X-Original-URL", "X-Forwarded-Uri", "X-Rewrite-URL"}

// redaction is what the options leave out of a record, and what they hash.
type redaction struct {
	fields, hashedFields []string
	query, hashedQuery   []string
	places               places
	original             string // the field of original_uri
	keys                 *keyring
	unpackers            chan *coding.Unpacker // as many as may unpack at the same time; nil where none is made yet
}

func newRedaction(o *Options) (*redaction, error) {
	r := &redaction{
		fields: o.Redact, hashedFields: o.RedactHash,
		query: o.RedactQuery, hashedQuery: o.RedactQueryHash,
		original:  o.OriginalURI,
		keys:      &keyring{dir: o.Dir},
		unpackers: make(chan *coding.Unpacker, runtime.GOMAXPROCS(0)),
	}
	for range cap(r.unpackers) {
		r.unpackers <- nil
	}
	if o.RedactKey != "" {
		if err := checkKey(o.RedactKey); err != nil {
			return nil, fmt.Errorf("redact_key: %w", err)
		}
		r.keys.keyed.Store(newKeyed(o.RedactKey))
	}
	var err error
	if r.places.constant, err = pathSet(o.RedactJSON); err != nil {
		return nil, fmt.Errorf("redact_json: %w", err)
	}
	if r.places.hashed, err = pathSet(o.RedactJSONHash); err != nil {
		return nil, fmt.Errorf("redact_json_hash: %w", err)
	}
	r.places.hash = r.hash
	return r, nil
}

func pathSet(texts []string) (*jsonpath.Set, error) {
	var paths []jsonpath.Path
	for _, text := range texts {
		path, err := jsonpath.Parse(text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return jsonpath.NewSet(paths...)
}

// hash returns the keyed hash of a value, or a constant while there is no key.
func (r *redaction) hash(value string) string {
	if k := r.keys.get(); k != nil {
		return k.value(value)
	}
	return redacted
}

func contains(fields []string, name string) bool {
	return slices.ContainsFunc(fields, func(field string) bool { return strings.EqualFold(field, name) })
}

// value returns what is recorded of a field's value.
func (r *redaction) value(name, value string) string {
	switch {
	case contains(r.fields, name):
		return redacted
	case contains(r.hashedFields, name):
		return hashedField(name, value, r.hash)
	case strings.EqualFold(name, r.original) || contains(urlFields, name):
		return string(r.target([]byte(value)))
	}
	return value
}

// host returns what is recorded of the Host of a request.
func (r *redaction) host(host []byte) []byte { return []byte(r.value("Host", string(host))) }

// target returns a target or URL without the values of its query's parameters.
func (r *redaction) target(uri []byte) []byte {
	if len(r.query)+len(r.hashedQuery) == 0 {
		return uri
	}
	path, query, ok := bytes.Cut(uri, []byte("?"))
	if !ok {
		return uri
	}
	query, fragment, _ := bytes.Cut(query, []byte("#"))
	without := r.parameters(query)
	if bytes.Equal(without, query) {
		return uri
	}
	if fragment != nil {
		fragment = append([]byte("#"), fragment...)
	}
	return slices.Concat(path, []byte("?"), without, fragment)
}

// parameters returns the parameters of a query or a form without the values of
// those that are to be left out.
func (r *redaction) parameters(query []byte) []byte {
	without := make([]byte, 0, len(query)+len(redacted))
	for len(query) > 0 {
		end := bytes.IndexAny(query, "&;")
		if end < 0 {
			end = len(query)
		}
		name, value, ok := bytes.Cut(query[:end], []byte("="))
		switch {
		case ok && hasParameter(r.query, string(name)):
			without = append(append(append(without, name...), '='), redacted...)
		case ok && hasParameter(r.hashedQuery, string(name)):
			without = append(append(append(without, name...), '='), hashedParameter(string(value), r.hash)...)
		default:
			without = append(without, query[:end]...)
		}
		if end == len(query) {
			break
		}
		without = append(without, query[end])
		query = query[end+1:]
	}
	return without
}

func hasParameter(names []string, escaped string) bool {
	if len(names) == 0 {
		return false
	}
	name, err := url.QueryUnescape(escaped)
	return slices.Contains(names, escaped) || err == nil && slices.Contains(names, name)
}

// authority returns a target with what is recorded of the host that it may name.
func (r *redaction) authority(method, uri []byte) []byte {
	if string(method) == "CONNECT" {
		return r.host(uri)
	}
	if len(uri) == 0 || uri[0] == '/' || uri[0] == '?' {
		return uri
	}
	scheme, rest, ok := bytes.Cut(uri, []byte("://"))
	if !ok {
		return uri
	}
	end := bytes.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return slices.Concat(scheme, []byte("://"), r.host(rest[:end]), rest[end:])
}

// Mask leaves values out of requests and responses that are kept elsewhere than
// in a recording, as the options of the same names do.
type Mask struct{ *redaction }

// NewMask returns a mask for fields of the header, parameters, and places in JSON.
// The error is that of a place which is none.
func NewMask(redact, redactQuery, redactJSON []string) (*Mask, error) {
	r, err := newRedaction(&Options{Redact: redact, RedactQuery: redactQuery, RedactJSON: redactJSON})
	return &Mask{r}, err
}

// Field returns what is kept of a header field's value.
func (m *Mask) Field(name, value string) string { return m.value(name, value) }

// Target returns what is kept of a target or URL.
func (m *Mask) Target(uri string) string { return string(m.target([]byte(uri))) }

// Body returns what is kept of a body with a Content-Type and any values of
// Content-Encoding: of one that is packed nothing, if something may have to be left
// out of it.
func (m *Mask) Body(codings []string, kind string, body []byte) []byte {
	if len(body) == 0 || len(m.query) == 0 && m.places.none() {
		return body
	}
	for _, coding := range codings {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return nil
		}
	}
	kind = strings.ToLower(kind)
	start := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case !m.places.none() && (strings.Contains(kind, "json") || len(start) > 0 && (start[0] == '{' || start[0] == '[')):
		without, _ := redactJSON(body, m.places)
		return without
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		return m.parameters(body)
	}
	return body
}
