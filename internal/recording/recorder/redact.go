// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// redacted stands for a value that is not recorded.
const redacted = "REDACTED"

// urlFields are header fields whose values are targets, or URLs with one.
var urlFields = []string{"Referer", "Location", "Content-Location", "X-Original-URI", "X-Original-URL", "X-Forwarded-Uri", "X-Rewrite-URL"}

// redaction is what the options leave out of a record.
type redaction struct {
	fields   []string
	query    []string
	json     *jsonpath.Set
	original string // the field of original_uri
	host     bool
}

func newRedaction(o *Options) (r redaction, err error) {
	var paths []jsonpath.Path
	for _, text := range o.RedactJSON {
		path, err := jsonpath.Parse(text)
		if err != nil {
			return r, err
		}
		paths = append(paths, path)
	}
	r = redaction{fields: o.Redact, query: o.RedactQuery, original: o.OriginalURI}
	r.json, err = jsonpath.NewSet(paths...)
	r.host = r.has("Host")
	return r, err
}

// has reports whether the value of a field is to be left out.
func (r *redaction) has(name string) bool {
	return slices.ContainsFunc(r.fields, func(field string) bool { return strings.EqualFold(field, name) })
}

// value returns what is recorded of a field's value.
func (r *redaction) value(name, value string) string {
	switch {
	case r.has(name):
		return redacted
	case len(r.query) > 0 && (strings.EqualFold(name, r.original) || slices.ContainsFunc(urlFields, func(field string) bool { return strings.EqualFold(field, name) })):
		return string(r.target([]byte(value)))
	}
	return value
}

// target returns a target or URL without the values of its query's parameters.
func (r *redaction) target(uri []byte) []byte {
	if len(r.query) == 0 {
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
		name, _, ok := bytes.Cut(query[:end], []byte("="))
		if ok && r.hasParameter(string(name)) {
			without = append(append(append(without, name...), '='), redacted...)
		} else {
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

func (r *redaction) hasParameter(escaped string) bool {
	name, err := url.QueryUnescape(escaped)
	return slices.Contains(r.query, escaped) || err == nil && slices.Contains(r.query, name)
}

// redact takes out of a draft what was not left out of its fields already.
func (d *Draft) redact() {
	r := &d.recorder.redaction
	if r.host {
		d.URI = withoutAuthority(d.Method, d.URI)
		if len(d.Host) > 0 {
			d.Host = d.Text(redacted)
		}
	}
	d.URI = r.target(d.URI)
	if len(r.query) == 0 && r.json == nil {
		return
	}
	r.body(&d.Headers, &d.Body, &d.BodySize)
	if d.Response != nil {
		r.body(&d.response.Headers, &d.response.Body, &d.response.BodySize)
	}
}

// withoutAuthority returns a target without the host that it may name.
func withoutAuthority(method, uri []byte) []byte {
	if string(method) == "CONNECT" {
		return []byte(redacted)
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
	return slices.Concat(scheme, []byte("://"), []byte(redacted), rest[end:])
}

// body takes values out of a body, and makes its length right where the header
// has it.
func (r *redaction) body(headers, body *[]byte, size *uint64) {
	if len(*body) == 0 {
		return
	}
	kind, coded := "", false
	for name, value := range recording.EachField(*headers) {
		switch {
		case bytes.EqualFold(name, []byte("Content-Type")):
			kind = strings.ToLower(string(value))
		case bytes.EqualFold(name, []byte("Content-Encoding")):
			coded = coded || !bytes.EqualFold(value, []byte("identity"))
		}
	}
	start := bytes.TrimLeft(*body, " \t\r\n")
	isJSON := r.json != nil && (strings.Contains(kind, "json") || len(start) > 0 && (start[0] == '{' || start[0] == '['))
	isForm := len(r.query) > 0 && strings.HasPrefix(kind, "application/x-www-form-urlencoded")
	without := *body
	switch {
	case coded && (isForm || r.json != nil && (isJSON || kind == "")):
		*body = (*body)[:0] // what is in it cannot be looked at
		return
	case isJSON: // whatever its type: curl's -d calls everything a form
		var whole bool
		if without, whole = redactJSON(*body, r.json); !whole {
			*body = without // the rest is not recorded, and counts as cut off
			*size = max(*size, uint64(len(without))+1)
			return
		}
	case isForm:
		without = r.parameters(*body)
	}
	if more := len(without) - len(*body); more != 0 {
		*size += uint64(more) // modulo 2^64: less if it is negative
		*headers = withLength(*headers, more)
	}
	*body = without
}

// withLength returns header fields with another Content-Length, if they have one.
func withLength(headers []byte, more int) []byte {
	changed := make([]byte, 0, len(headers)+20)
	for name, value := range recording.EachField(headers) {
		if length, err := strconv.Atoi(string(value)); err == nil && bytes.EqualFold(name, []byte("Content-Length")) {
			value = strconv.AppendInt(nil, int64(max(0, length+more)), 10)
		}
		changed = recording.AppendField(changed, string(name), string(value))
	}
	return changed
}
