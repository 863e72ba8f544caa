// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package edit changes recorded requests at places: a segment of the path, a
// parameter, a field, a cookie, a member of JSON. All other bytes stay as they
// are, and what is packed is packed again.
package edit

import (
	"bytes"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// maxBody is how many bytes of a body, unpacked, are looked into.
const maxBody = 4 << 20

// Draft is a request that is changed. It can be used again, and is for one
// goroutine at a time.
type Draft struct {
	request  recording.Request
	encoding string // of the body
	kind     string // its media type, in lower case
	content  []byte // the body, unpacked
	known    bool   // content is what the body says
	rewrote  bool   // content was changed
	changed  bool
	recorded []byte   // the body as it was recorded
	stale    []string // fields that have a digest of it, or sign it
	unpacker coding.Unpacker
}

// Begin takes a request, which stays as it is.
func (d *Draft) Begin(r *recording.Request) {
	d.request = *r
	d.encoding, d.kind, d.recorded, d.stale = "", "", r.Body, nil
	d.content, d.known, d.rewrote, d.changed = nil, false, false, false
	for name, value := range recording.EachField(r.Headers) {
		switch {
		case bytes.EqualFold(name, contentEncoding):
			d.encoding = strings.ToLower(string(bytes.TrimSpace(value)))
		case bytes.EqualFold(name, contentType):
			kind, _, _ := strings.Cut(string(value), ";")
			d.kind = strings.ToLower(strings.TrimSpace(kind))
		}
	}
}

var contentEncoding, contentType = []byte("Content-Encoding"), []byte("Content-Type")

// Request returns the request as it is, which is valid until Begin.
func (d *Draft) Request() *recording.Request {
	if d.rewrote {
		d.rewrote = false
		if packed, ok := pack(d.content, d.encoding); ok {
			d.request.Body, d.request.BodySize = packed, uint64(len(packed))
			d.stale = nil
			d.renewDigests(d.recorded, packed)
		}
	}
	return &d.request
}

// Changed reports whether anything was changed.
func (d *Draft) Changed() bool { return d.changed }

// Kind returns the media type of the body, in lower case and without parameters.
func (d *Draft) Kind() string { return d.kind }

// Body returns what the body says, unpacked; nothing of one that is larger than
// the limit, cut off or packed in an unknown way.
func (d *Draft) Body() []byte {
	if d.known {
		return d.content
	}
	d.known = true
	r := &d.request
	if len(r.Body) == 0 || len(r.Body) > maxBody || r.Truncated() {
		return nil
	}
	if _, ok := pack(nil, d.encoding); !ok {
		return nil
	}
	content, err := d.unpacker.Unpack(nil, r.Body, []byte(d.encoding), maxBody)
	if err != nil {
		return nil
	}
	d.content = content
	return content
}

// SetBody replaces what the body says.
func (d *Draft) SetBody(content []byte) {
	d.content, d.known, d.rewrote, d.changed = content, true, true, true
}

// Target returns the target.
func (d *Draft) Target() []byte { return d.request.URI }

// SetTarget replaces the target.
func (d *Draft) SetTarget(target []byte) { d.request.URI, d.changed = target, true }

// pack packs a body as its Content-Encoding says, and reports whether it can.
func pack(content []byte, encoding string) ([]byte, bool) {
	var out bytes.Buffer
	switch encoding {
	case "", "identity":
		return content, true
	case "gzip", "x-gzip":
		w := gzip.NewWriter(&out)
		w.Write(content) //nolint:errcheck // a Buffer takes everything
		w.Close()
	case "br":
		w := brotli.NewWriter(&out)
		w.Write(content) //nolint:errcheck // a Buffer takes everything
		w.Close()
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, false
		}
		return w.EncodeAll(content, nil), true
	default:
		return nil, false
	}
	return out.Bytes(), true
}

// Fields passes each header field but those of the connection and of framing to
// change, which returns the value that it is to have, and false to leave the
// field out.
func (d *Draft) Fields(change func(name, value []byte) (changed []byte, keep bool)) {
	fields := d.request.Headers
	var out []byte
	same, n := true, 0
	for name, value := range recording.EachField(fields) {
		changed, keep := value, true
		if isMessages(name) {
			changed, keep = change(name, value)
		}
		if same && (!keep || !bytes.Equal(changed, value)) {
			same = false
			out = appendFields(make([]byte, 0, len(fields)+256), fields, n)
		}
		if !same && keep {
			out = http1.AppendField(out, name, changed)
		}
		n++
	}
	if !same {
		d.request.Headers, d.changed = out, true
	}
}

// appendFields appends the first n fields.
func appendFields(out, fields []byte, n int) []byte {
	for name, value := range recording.EachField(fields) {
		if n--; n < 0 {
			break
		}
		out = http1.AppendField(out, name, value)
	}
	return out
}

// isMessages reports whether a field belongs to the message, not to the
// connection or the framing.
func isMessages(name []byte) bool {
	return http1.FieldOf(name) == http1.EndToEnd && !bytes.EqualFold(name, contentEncoding)
}
