// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"io"
	"net"
	"net/http/httputil"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// trustedIdle is how long a connection may have idled and still be used
	// without a look at whether its server has closed it.
	trustedIdle = 100 * time.Millisecond

	maxResponseHeader = 64 << 10
	maxInterim        = 100 // informational responses before the final one
)

var (
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxResponseHeader) }}
	headers = sync.Pool{New: func() any { return new(fasthttp.ResponseHeader) }}
)

// conn is a connection to the server, with what its pool has to know.
type conn struct {
	net.Conn
	raw                syscall.RawConn // nil if it cannot be looked at
	created, idleSince time.Time
	readErr            error
}

func newConn(c, plain net.Conn) *conn {
	now := time.Now()
	made := &conn{Conn: c, created: now, idleSince: now}
	if sc, ok := plain.(syscall.Conn); ok {
		made.raw, _ = sc.SyscallConn()
	}
	return made
}

// good tells whether an idle connection may carry another exchange.
func (c *conn) good(now time.Time) bool {
	if now.Sub(c.created) > maxAge || now.Sub(c.idleSince) > idleTimeout {
		return false
	}
	if now.Sub(c.idleSince) < trustedIdle || c.raw == nil {
		return true
	}
	_ = c.SetReadDeadline(time.Time{}) // that of its last exchange forbids looking
	return silent(c.raw)
}

// Read remembers how reading failed, which the response parser hides.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.readErr = err
	}
	return n, err
}

func (c *conn) send(req Request) error {
	var err error
	if len(req.Body) == 0 {
		_, err = c.Write(req.Head)
	} else {
		parts := net.Buffers{req.Head, req.Body, req.Tail}
		_, err = parts.WriteTo(c.Conn)
	}
	if err != nil {
		return &Error{Send, err}
	}
	return nil
}

// receive reads a response and tells whether another exchange can follow.
func (c *conn) receive(bodiless bool, limit int64) (status int, reusable bool, err error) {
	br := readers.Get().(*bufio.Reader)
	br.Reset(c)
	header := headers.Get().(*fasthttp.ResponseHeader)
	defer func() {
		br.Reset(nil)
		readers.Put(br)
		header.Reset()
		headers.Put(header)
	}()

	if err := c.final(br, header); err != nil {
		return 0, false, c.failure(err)
	}
	status = header.StatusCode()
	reusable = !header.ConnectionClose() && status != fasthttp.StatusSwitchingProtocols
	if !bodiless && bodyFollows(status) {
		ended, err := discard(br, header, limit)
		if err != nil {
			return 0, false, c.failure(err)
		}
		reusable = reusable && ended
	}
	return status, reusable && br.Buffered() == 0, nil
}

// final reads response headers up to the one that is not informational.
func (c *conn) final(br *bufio.Reader, header *fasthttp.ResponseHeader) error {
	for range maxInterim {
		if err := header.Read(br); err != nil {
			return err
		}
		if status := header.StatusCode(); status >= 200 || status == fasthttp.StatusSwitchingProtocols {
			return nil
		}
	}
	return errTooManyInterim
}

func bodyFollows(status int) bool {
	return status >= 200 && status != fasthttp.StatusNoContent && status != fasthttp.StatusNotModified
}

// discard reads a body up to the limit and tells whether that was all of it
// and the connection stands at the start of the next response.
func discard(br *bufio.Reader, header *fasthttp.ResponseHeader, limit int64) (ended bool, err error) {
	const chunked = -1
	switch n := int64(header.ContentLength()); {
	case n >= 0:
		_, err := br.Discard(int(min(n, limit)))
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return n <= limit, err
	case n == chunked:
		_, err := io.CopyN(io.Discard, httputil.NewChunkedReader(br), limit+1)
		if err == io.EOF {
			return true, header.ReadTrailer(br)
		}
		return false, err
	default: // until the server closes
		_, err := io.CopyN(io.Discard, br, limit+1)
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
}

// failure tells a connection that failed from an answer that is none.
func (c *conn) failure(err error) error {
	if c.readErr != nil {
		return &Error{Receive, c.readErr}
	}
	return &Error{Malformed, err}
}
