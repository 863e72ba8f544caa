// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"io"
	"mime"
	"strings"
	"unsafe"

	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/transform"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
)

// How much a packed body may become: as much for each of its bytes and as much
// beside, but never more than the body of any request.
const (
	mostUnpacked    = 64 << 20
	unpackedBase    = 1 << 20
	unpackedPerByte = 100
)

// readBody returns the body as matchers see it: unpacked, and as UTF-8.
func (r *Request) readBody() (d document) {
	data, err := r.received()
	if err != nil {
		r.failed = err
		return d
	}
	if len(data) == 0 {
		return d
	}
	if data, err = r.unpack(data); err != nil {
		r.failed = err
		return d
	}
	d.raw = unsafe.String(unsafe.SliceData(data), len(data)) // which nobody changes any more
	d.text = r.decode(d.raw)
	return d
}

// unpack returns a body without its Content-Encoding. One that is not packed as
// that says is returned itself; what is packed by gzip is unpacked even where
// nothing says so, as WireMock does.
func (r *Request) unpack(data []byte) ([]byte, error) {
	encoding := strings.Join(r.header("Content-Encoding"), ",")
	if encoding == "" {
		if data[0] != 0x1f || len(data) < 2 || data[1] != 0x8b {
			return data, nil
		}
		encoding = "gzip"
	}
	limit := min(mostUnpacked, unpackedBase+unpackedPerByte*len(data))
	plain, err := new(coding.Unpacker).Unpack(nil, data, []byte(encoding), limit)
	switch {
	case errors.Is(err, coding.ErrTooLarge):
		return nil, ErrTooMuch
	case err != nil:
		return data, nil
	}
	return plain, nil
}

// decode returns a body as UTF-8 from the charset of its Content-Type.
func (r *Request) decode(text string) string {
	for _, kind := range r.header("Content-Type") {
		if !strings.Contains(strings.ToLower(kind), "charset") {
			continue
		}
		_, parameters, err := mime.ParseMediaType(kind)
		if name := parameters["charset"]; err == nil && !strings.EqualFold(name, "utf-8") {
			return decodeFrom(name, text)
		}
	}
	return text
}

// decodeFrom returns a text in UTF-8; one in a charset that is not known is
// returned itself.
func decodeFrom(charset, text string) string {
	encoding, err := ianaindex.MIME.Encoding(charset)
	if err != nil || encoding == nil {
		return text
	}
	decoded, err := io.ReadAll(transform.NewReader(strings.NewReader(text), encoding.NewDecoder()))
	if err != nil {
		return text
	}
	return string(decoded)
}
