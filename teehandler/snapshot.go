// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// snapshot is a request as the tee saw it, before any handler behind the tee
// could change it. All shadows of a request share one, so nothing in it changes
// once it was sent.
type snapshot struct {
	method, target, host string

	fields  []byte // for shadows by URL: the header's lines on the wire, without Host and framing
	length  bool   // the request had a Content-Length
	body    []byte
	trailer http.Header

	origin *origin // for shadows made of handlers

	// where the responses are compared
	lines    []byte          // of the header as the client sent it
	old      *keptResponse   // the primary's
	exchange *pairs.Exchange // nil: they are not

	memory   *memory
	held     int64 // bytes of memory, changed by one owner at a time
	holders  atomic.Int32
	lent     bool // a handler may have kept a piece of it
	bodyPool *[]byte
}

// origin is what handlers want to know of a request beyond its message.
type origin struct {
	header       http.Header
	server       *caddyhttp.Server
	proto        string
	major, minor int
	remoteAddr   string
	tls          *tls.ConnectionState
}

// Snapshots and short bodies are used again, unless a handler has seen them.
const maxPooledBody = 64 << 10

var (
	snapshots = sync.Pool{New: func() any { return new(snapshot) }}
	bodies    = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}
)

// snapshot copies all of a request but its body.
func (h *Handler) snapshot(r *http.Request, target string) *snapshot {
	s := snapshots.Get().(*snapshot)
	s.holders.Store(1)
	s.method, s.target, s.host = r.Method, target, r.Host
	_, s.length = r.Header["Content-Length"]
	s.memory = h.memory

	header, named := r.Header, namedByConnection(r.Header)
	if h.rewrites() {
		header, named = h.rewrite(r, s, named), nil
	}
	if len(h.To) > 0 || h.Compare != nil && h.Compare.Noise != "" {
		s.fields = appendFields(s.fields[:0], header, named)
		s.fields = http1.AppendField(s.fields, markField, h.name)
		s.keep(len(s.fields))
	}
	if len(h.Handle) > 0 {
		if !h.rewrites() {
			header = header.Clone()
			leaveBehind(header, named)
		}
		s.origin = newOrigin(r, header, h.name)
		s.keep(sizeOf(header))
		s.lent = true
	}
	return s
}

// newOrigin takes over the header.
func newOrigin(r *http.Request, header http.Header, mark string) *origin {
	o := &origin{
		header:     header,
		proto:      r.Proto,
		major:      r.ProtoMajor,
		minor:      r.ProtoMinor,
		remoteAddr: r.RemoteAddr,
		tls:        r.TLS,
	}
	o.header.Add(markField, mark)
	o.server, _ = r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return o
}

func sizeOf(header http.Header) (bytes int) {
	for name, values := range header {
		for _, value := range values {
			bytes += len(name) + len(value)
		}
	}
	return bytes
}

// share keeps the snapshot for one more user.
func (s *snapshot) share() { s.holders.Add(1) }

// release ends one use of the snapshot. The last one recycles it.
func (s *snapshot) release() {
	if s.holders.Add(-1) > 0 {
		return
	}
	s.giveBack()
	if s.lent {
		return
	}
	if s.bodyPool != nil && cap(s.body) <= maxPooledBody {
		if s.body != nil {
			*s.bodyPool = s.body[:0]
		}
		bodies.Put(s.bodyPool)
	}
	fields, lines := s.fields[:0], s.lines[:0]
	*s = snapshot{fields: fields, lines: lines}
	if cap(fields)+cap(lines) <= maxPooledBody {
		snapshots.Put(s)
	}
}

// maxHeld is how many bytes of requests a tee holds for its copies, or max_body
// if that is more.
var maxHeld int64 = 256 << 20

// memory counts the bytes of the requests whose copies are being received, wait
// or are being sent, so that clients cannot fill the server while a shadow is
// slow. Shadows share a request, which counts once.
type memory struct {
	limit int64
	held  atomic.Int64
}

// full reports whether nothing more is to be held.
func (m *memory) full() bool { return m.held.Load() >= m.limit }

// keep counts bytes that the snapshot holds until it is released.
func (s *snapshot) keep(bytes int) {
	s.held += int64(bytes)
	s.memory.held.Add(int64(bytes))
}

// giveBack returns the snapshot's memory once it holds nothing any more.
func (s *snapshot) giveBack() {
	s.memory.held.Add(-s.held)
	s.held = 0
}

// rawTarget returns the request's target as the tee sees it: byte for byte what
// the client sent, as long as no handler has changed the URL.
func rawTarget(r *http.Request) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if ok && !sameTarget(r.URL, original.URL) {
		return r.URL.RequestURI()
	}
	if !ok || original.RequestURI == "" {
		return r.URL.RequestURI()
	}
	return http1.OriginForm(original.RequestURI)
}

func sameTarget(a, b *url.URL) bool {
	return b != nil && a.Path == b.Path && a.RawPath == b.RawPath && a.RawQuery == b.RawQuery &&
		a.Opaque == b.Opaque && a.ForceQuery == b.ForceQuery
}

// sendable reports whether a request line can carry the method and target.
func sendable(method, target string) bool {
	return http1.IsTarget(target) && http1.IsToken(method)
}
