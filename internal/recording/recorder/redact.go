// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
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

// redact takes out of a draft what was not left out of its fields already. It
// waits for memory, as long as ctx lets it, where a body has to be unpacked.
func (d *Draft) redact(ctx context.Context) {
	r := d.recorder.redaction
	if contains(r.fields, "Host") || contains(r.hashedFields, "Host") {
		d.URI = r.authority(d.Method, d.URI)
		if len(d.Host) > 0 {
			d.Host = r.host(d.Host)
		}
	}
	d.URI = r.target(d.URI)
	if len(r.query)+len(r.hashedQuery) == 0 && r.places.none() {
		return
	}
	d.redactBody(ctx, &d.Headers, &d.Body, &d.BodySize)
	if d.Response != nil {
		d.redactBody(ctx, &d.response.Headers, &d.response.Body, &d.response.BodySize)
	}
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

// redactBody takes values out of a body. A packed one is recorded unpacked if
// something is taken out of it. Fields and size follow.
func (d *Draft) redactBody(ctx context.Context, headers, body *[]byte, size *uint64) {
	if len(*body) == 0 {
		return
	}
	r := d.recorder.redaction
	kind, codings := "", []byte(nil)
	for name, value := range recording.EachField(*headers) {
		switch {
		case bytes.EqualFold(name, []byte("Content-Type")):
			kind = strings.ToLower(string(value))
		case bytes.EqualFold(name, []byte("Content-Encoding")) && !bytes.EqualFold(value, []byte("identity")):
			codings = append(append(codings, value...), ',')
		}
	}
	isForm := len(r.query)+len(r.hashedQuery) > 0 && strings.HasPrefix(kind, "application/x-www-form-urlencoded")
	mayBeJSON := !r.places.none()
	if !isForm && !mayBeJSON {
		return
	}
	content, whole, packed := *body, true, len(bytes.Trim(codings, ", ")) > 0
	if packed {
		if content, whole = d.unpack(ctx, *body, codings); d.lost {
			return
		}
	}
	without := content
	start := bytes.TrimLeft(content, " \t\r\n")
	switch {
	case mayBeJSON && (strings.Contains(kind, "json") || len(start) > 0 && (start[0] == '{' || start[0] == '[')): // whatever its type: curl's -d calls everything a form
		var parsed bool
		without, parsed = redactJSON(content, r.places)
		whole = whole && parsed
	case isForm:
		without = r.parameters(content)
	case whole || kind != "":
		return // neither, so it stays as it came
	}
	switch {
	case whole && bytes.Equal(without, content):
		return
	case !whole: // the rest is not recorded, and counts as cut off
		*size = max(*size, uint64(len(without))+1)
	default:
		*size += uint64(len(without) - len(*body)) // modulo 2^64: less if it is negative
	}
	*headers = withLength(*headers, *size, packed && len(without) > 0)
	*body = without
}

// unpack returns the content of a body, in memory of the draft, and whether that
// is all of it: max_body bounds it too. It is lost if there is no memory.
//
// Few bodies are unpacked at the same time, and none of those waits for memory:
// it is reserved before, a larger part each time that it was too small.
func (d *Draft) unpack(ctx context.Context, body, codings []byte) (content []byte, whole bool) {
	r := d.recorder.redaction
	most := int64(d.recorder.options.MaxBody)
	for want := max(4*int64(len(body)), 4<<10); ; want *= 4 {
		want = min(want, most)
		memory := content[:0]
		if int64(cap(memory)) < want && !d.reserveBody(ctx, &memory, want) {
			return nil, false
		}
		var err error
		content, err = r.unpack(memory, body, codings, int(want))
		if !errors.Is(err, coding.ErrTooLarge) || want == most {
			return content, err == nil
		}
		if content == nil {
			content = memory
		}
	}
}

// unpack calls an unpacker when one is free.
func (r *redaction) unpack(memory, body, codings []byte, limit int) ([]byte, error) {
	u := <-r.unpackers
	defer func() { r.unpackers <- u }()
	if u == nil {
		u = new(coding.Unpacker)
	}
	return u.Unpack(memory, body, codings, limit)
}

// withLength returns header fields with another Content-Length, if they have
// one, and without a Content-Encoding if the body is no longer packed.
func withLength(headers []byte, size uint64, unpacked bool) []byte {
	changed := make([]byte, 0, len(headers)+20)
	for name, value := range recording.EachField(headers) {
		switch {
		case unpacked && bytes.EqualFold(name, []byte("Content-Encoding")):
			continue
		case bytes.EqualFold(name, []byte("Content-Length")):
			value = strconv.AppendUint(nil, size, 10)
		}
		changed = http1.AppendField(changed, name, value)
	}
	return changed
}
