// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// openRecorder makes the recorder of the record option. With block a full disk
// would make clients wait.
func (h *Handler) openRecorder(ctx caddy.Context) (err error) {
	if h.Record == nil {
		return nil
	}
	options := *h.Record
	if options.OnOverflow == recorder.Block {
		return errors.New("record: on_overflow block would have clients wait: a tee only knows drop")
	}
	options.OnOverflow = recorder.Drop
	if h.recorder, err = record.Open(ctx, "tee", h.name, &options); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// conversing counts the conversations of all tees that are not added yet.
var conversing atomic.Int64

// conversation is a request and the primary's response on their way to becoming
// a record. The request's body comes on another goroutine than the response.
type conversation struct {
	logger *zap.Logger
	limit  int64 // of bodies

	// of the request
	length  int64
	trailer http.Header // filled in at the end of the body

	mu       sync.Mutex
	draft    *record.Draft // nil once the record is added
	received bool          // the end of the request's body was seen
	headSeen bool
}

// converse begins a conversation and has it see the request's body. It looks at
// the request while no handler behind the tee can have changed it.
func (h *Handler) converse(r *http.Request) *conversation {
	conversing.Add(1)
	c := &conversation{
		logger:   h.logger,
		limit:    h.recorder.MaxBody(),
		length:   r.ContentLength,
		trailer:  r.Trailer,
		draft:    h.recorder.Begin(),
		received: r.ContentLength == 0,
	}
	record.Describe(c.draft, r)
	if !c.received {
		r.Body = &recordedBody{ReadCloser: r.Body, of: c}
	}
	return c
}

// recordedBody shows a conversation what is read of the request's body, by
// whomever.
type recordedBody struct {
	io.ReadCloser
	of *conversation
}

// Read reads the body.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.of.read(p[:n], err)
	return n, err
}

func (c *conversation) read(part []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draft == nil || c.received {
		return
	}
	c.draft.WriteBody(context.Background(), part)
	switch {
	case err == io.EOF:
		record.DescribeTrailers(c.draft, c.trailer)
		c.received = true
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		c.draft.BrokeOff(record.Cause(err))
		c.received = true
	}
}

// head implements consumer.
func (c *conversation) head(status int, header http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draft == nil {
		return
	}
	record.DescribeResponse(c.draft, status, header)
	c.headSeen = true
}

// body implements consumer.
func (c *conversation) body(part []byte) (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draft == nil {
		return false
	}
	c.draft.WriteResponse(context.Background(), part)
	return int64(c.draft.Response.BodySize) < c.limit
}

// end implements consumer.
func (c *conversation) end(end *responseEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.headSeen {
		c.draft.Respond(end.status)
		c.draft.NoResponse(unseen(end))
	} else {
		c.draft.Response.BodySize = uint64(end.size)
		if end.err != nil {
			c.draft.ResponseBrokeOff(record.Cause(end.err))
		}
	}
	record.DescribeResponseTrailers(c.draft, end.trailer)
	c.draft.EndResponse(end.duration)
}

// unseen returns why nothing of a response was seen. What the error routes
// respond does not come by the tee.
func unseen(end *responseEnd) string {
	cause := record.Cause(end.err).Error()
	switch {
	case end.status == 0:
		return cause
	case cause == "":
		return "left to the error routes"
	}
	return "left to the error routes: " + cause
}

// largeConversation is how many bytes of bodies may be encoded while a client
// waits for the end of its response.
const largeConversation = 64 << 10

// close adds the record if its request is among those chosen. What is read of
// the body afterwards, by a goroutine of the primary, does not matter any more.
func (c *conversation) close(chosen bool) {
	c.mu.Lock()
	draft := c.draft
	c.draft = nil
	c.mu.Unlock()
	switch {
	case !chosen:
		draft.Release()
		conversing.Add(-1)
	case len(draft.Body)+len(draft.Response.Body) > largeConversation:
		go c.add(draft) // of these the recorder's memory lets no more than so many be
	default:
		c.add(draft)
	}
}

func (c *conversation) add(draft *record.Draft) {
	defer conversing.Add(-1)
	defer draft.Release()
	defer func() {
		if value := recover(); value != nil {
			c.logger.Error("recording", zap.Error(&panicError{value: value}))
		}
	}()
	if !c.received && (c.length < 0 || draft.BodySize < uint64(c.length) || len(c.trailer) > 0) {
		draft.BrokeOff(errors.New("the rest was not read"))
		draft.BodySize = max(draft.BodySize, uint64(max(0, c.length)))
	}
	draft.Add(context.Background())
}

// recordable reports whether records can be made of requests that are refused
// for this reason to copies.
func recordable(reason outcome) bool {
	return reason != droppedLoop && reason != droppedUnsupported
}
