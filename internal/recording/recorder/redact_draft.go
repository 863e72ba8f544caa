// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

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
