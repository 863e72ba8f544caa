// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// item is a value of a message, of which only the hash is kept.
type item struct {
	place  Place
	hash   uint64
	strong bool   // it has high entropy
	text   []byte // its beginning, of values of requests
}

// maxShown is how much is kept of a value to be shown.
const maxShown = 48

// ignored are header fields whose values belong to the message or the client's
// software rather than to a conversation, or are looked at elsewhere.
var ignored = map[string]bool{
	"Accept": true, "Accept-Charset": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true, "Connection": true,
	"Content-Encoding": true, "Content-Length": true, "Content-Type": true, "Cookie": true, "Date": true, "Dnt": true, "Expect": true,
	"Forwarded": true, "Host": true, "Keep-Alive": true, "Origin": true, "Pragma": true, "Priority": true, "Range": true, "Referer": true,
	"Te": true, "Traceparent": true, "Tracestate": true, "Transfer-Encoding": true, "Upgrade": true, "Upgrade-Insecure-Requests": true,
	"User-Agent": true, "Via": true, "X-Forwarded-For": true, "X-Forwarded-Host": true, "X-Forwarded-Proto": true, "X-Rehearsal-Copy": true,
	"Accept-Ranges": true, "Age": true, "Alt-Svc": true, "Content-Language": true, "Content-Security-Policy": true, "Expires": true,
	"Last-Modified": true, "Location": true, "Server": true, "Strict-Transport-Security": true, "Vary": true,
}

// requestItems appends the values of a request that may be of a conversation.
func (r *Reader) requestItems(dst []item, q *recording.Request) []item {
	r.texts = r.texts[:0]
	r.Request(q, func(p Place, value []byte) {
		if p.Kind == Header && ignored[p.Name] || p.Kind == Path && !oneOfMany(value) {
			return
		}
		dst = append(dst, item{place: p, hash: xxhash.Sum64(value), strong: IsHighEntropy(value), text: r.text(value)})
	})
	return dst
}

// text returns the beginning of a value, in memory that is used again for the
// next request.
func (r *Reader) text(value []byte) []byte {
	from := len(r.texts)
	r.texts = append(r.texts, value[:min(len(value), maxShown+1)]...)
	return r.texts[from:len(r.texts):len(r.texts)]
}

// shown returns a value as it is shown: its beginning, if it is long.
func shown(text []byte) string {
	if len(text) <= maxShown {
		return strings.ToValidUTF8(string(text), "?")
	}
	return strings.ToValidUTF8(string(text[:maxShown]), "") + "…"
}

// responseItems appends the values of a response, which may be nil, that may be
// of a conversation.
func (r *Reader) responseItems(dst []item, a *recording.Response) []item {
	if a == nil {
		return dst
	}
	r.Response(a, func(p Place, value []byte) {
		if p.Kind == Header && ignored[p.Name] {
			return
		}
		dst = append(dst, item{place: p, hash: xxhash.Sum64(value), strong: IsHighEntropy(value)})
	})
	return dst
}
