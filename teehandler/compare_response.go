// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/teehandler/internal/comparison"
)

// keptResponse is a response that is to be compared: the primary's, in passing,
// or a shadow's.
type keptResponse struct {
	comparison *comparison.Comparison
	exchange   *pairs.Exchange // of the primary's; nil if there is none
	begun      time.Time

	mu       sync.Mutex // handlers of a shadow may leave goroutines behind that write
	over     bool
	capture  http1.Capture
	wire     bool // the head has a status line, since no handler responded
	status   int
	size     int64
	duration time.Duration
	unpooled bool // a goroutine may write still
	left     bool // the client had gone before the primary, which so had no response
	typed    bool // the handler said of which type the body is
	err      string
}

var kepts = sync.Pool{New: func() any { return new(keptResponse) }}

func newKept(c *comparison.Comparison) *keptResponse {
	k := kepts.Get().(*keptResponse)
	k.comparison = c
	k.capture.MaxBody, k.capture.Hold, k.capture.Return = c.MaxBody(), c.Hold, c.Return
	k.begun = time.Now()
	return k
}

// release ends the use.
func (k *keptResponse) release() {
	k.comparison.Return(k.capture.Held())
	capture := k.capture
	if k.unpooled || cap(capture.Head) > maxPooledBody || cap(capture.Body) > maxPooledBody || cap(capture.Trailers) > maxPooledBody {
		return
	}
	*k = keptResponse{capture: http1.Capture{Head: capture.Head[:0], Body: capture.Body[:0], Trailers: capture.Trailers[:0]}}
	kepts.Put(k)
}

// received takes over what came over a connection.
func (k *keptResponse) received(resp *http1.Response) {
	k.status, k.size = resp.Status, resp.BodySize
	if resp.Status != 0 && !resp.Whole {
		k.size++ // there is more than was read
	}
	k.wire = true
}

// completed is called behind end for a shadow made of handlers, which may have
// been stopped since they wrote too much. What they write still is not kept.
func (k *keptResponse) completed(stopped bool) {
	if stopped {
		k.err = ""
		k.size++
	}
	k.unpooled = true
}

// head implements consumer.
func (k *keptResponse) head(status int, header http.Header) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return
	}
	k.status = status
	k.capture.SetHead(http1.AppendHeader(k.capture.Head, header))
	_, k.typed = header["Content-Type"]
	k.typed = k.typed || len(header["Content-Encoding"]) > 0
}

// body implements consumer.
func (k *keptResponse) body(part []byte) (more bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return false
	}
	part = part[:min(len(part), k.capture.Room())]
	if k.capture.Grow(len(part)) {
		k.capture.Body = append(k.capture.Body, part...)
	}
	return k.capture.Room() > 0
}

// end implements consumer.
func (k *keptResponse) end(end *responseEnd) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.size, k.duration = end.size, end.duration
	if end.err != nil {
		k.err = end.err.Error()
	}
	k.capture.Trailers = http1.AppendHeader(k.capture.Trailers, end.trailer)
	if k.status != 0 && !k.typed && len(k.capture.Body) > 0 { // the server finds out
		k.capture.SetHead(http1.AppendField(k.capture.Head, "Content-Type", http.DetectContentType(k.capture.Body)))
	}
}

// respond hands over the response; what is large is not copied.
func (k *keptResponse) respond(x *pairs.Exchange, from pairs.Side) {
	if x == nil {
		return
	}
	header := k.capture.Head
	if k.wire {
		_, header, _ = bytes.Cut(header, []byte("\n"))
	}
	r := &compare.Response{
		Status: k.status, Header: header, Body: k.capture.Body, BodySize: k.size, Trailer: k.capture.Trailers,
		Error: k.err, Time: k.begun, Duration: k.duration,
	}
	switch held := k.capture.HeldBody(); {
	case k.capture.Refused:
		x.Fail(from, pairs.Shed)
	case held > 0:
		x.Adopt(from, r, int64(held))
		k.capture.Body = nil
	default:
		x.Respond(from, r)
	}
}

// statusLeft is the status that Caddy has for a client that did not wait.
const statusLeft = 499

// leave is called where the client has gone, perhaps with all that it wanted:
// what the primary has said then is no response if it was nothing but that.
func (k *keptResponse) leave(primary error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = primary != nil || k.status == statusLeft
}

// deliver hands over the primary's response, if the copy has left.
func (k *keptResponse) deliver() {
	switch x := k.exchange; {
	case k.left || k.err != "" || k.status == 0:
		x.Fail(pairs.Old, reasonPrimary)
	default:
		k.respond(x, pairs.Old)
	}
	k.release()
}
