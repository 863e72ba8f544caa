// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

const (
	readBuffer  = 16 << 10
	maxHead     = 1 << 20  // of a response
	maxTrailers = 64 << 10 // behind a chunked body
	maxInterim  = 100      // informational responses before the final one
)

// input reads what comes on a connection during one exchange.
type input struct {
	conn     net.Conn
	received int64
	br       *bufio.Reader
	small    *bufio.Reader // that of the pool
}

var inputs = sync.Pool{New: func() any {
	in := new(input)
	in.small = bufio.NewReaderSize(in, readBuffer)
	return in
}}

func newInput(conn net.Conn) *input {
	in := inputs.Get().(*input)
	in.conn, in.received, in.br = conn, 0, in.small
	in.small.Reset(in)
	return in
}

func (in *input) release() {
	in.conn, in.br = nil, nil
	inputs.Put(in)
}

// empty reports whether nothing was read behind the response. A buffer that had
// to grow reads through the small one.
func (in *input) empty() bool { return in.br.Buffered() == 0 && in.small.Buffered() == 0 }

// Read reads from the connection and counts.
func (in *input) Read(p []byte) (int, error) {
	n, err := in.conn.Read(p)
	in.received += int64(n)
	return n, err
}

// response reads responses up to the one that is not informational.
func (in *input) response(resp *Response, req *Request, capture *Capture) error {
	if _, err := in.br.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			return &Error{Kind: Closed, Err: err}
		}
		return &Error{Kind: kindOf(err, Reset), Err: err}
	}
	method, _, _ := bytes.Cut(req.Head, []byte(" "))
	for range maxInterim {
		raw, err := in.peekHead()
		if err != nil {
			return WithinResponse(err)
		}
		var h head
		if err := h.parse(raw); err != nil {
			return WithinResponse(err)
		}
		if h.status/100 == 1 && h.status != switchingProtocols {
			in.discard(len(raw))
			continue
		}
		resp.Status, resp.Minor, resp.Location, resp.Date = h.status, h.minor, string(h.location), h.date
		if capture != nil {
			capture.SetHead(append(capture.Head, raw...))
		}
		in.discard(len(raw)) // no more of raw and h.location from here on
		if !HasBody(method, h.status) {
			resp.Whole = true
			resp.Reusable = h.persistent() && !tunnels(method, h.status)
			return nil
		}
		b := body{in: in, size: &resp.BodySize, limit: req.MaxBody, capture: capture}
		if resp.Whole, err = b.read(&h); err != nil {
			return WithinResponse(err)
		}
		resp.Reusable = resp.Whole && h.persistent() && h.delimited()
		return nil
	}
	return &Error{Kind: Malformed, Err: errors.New("too many informational responses")}
}

// discard takes bytes that were peeked at.
func (in *input) discard(n int) {
	_, _ = in.br.Discard(n)
	in.shrink()
}

// shrink goes back to the small buffer, through which the large one of a long head
// has read.
func (in *input) shrink() {
	if in.br.Buffered() == 0 {
		in.br = in.small
	}
}

// protocol is what every response begins with.
const protocol = "HTTP/1."

// peekHead waits until a whole head is in the buffer, which grows if it must.
func (in *input) peekHead() ([]byte, error) {
	for searched := 0; ; {
		head, _ := in.br.Peek(in.br.Buffered())
		if n := min(len(head), len(protocol)); string(head[:n]) != protocol[:n] {
			return nil, errors.New("the response is not HTTP/1")
		}
		if end := endOfHead(head, searched); end > 0 {
			return head[:end], nil
		}
		searched = max(0, len(head)-len("\n\r"))
		switch {
		case len(head) < in.br.Size():
		case len(head) < maxHead:
			in.br = bufio.NewReaderSize(in.br, maxHead)
		default:
			return nil, fmt.Errorf("the header of the response is larger than %d bytes", maxHead)
		}
		if _, err := in.br.Peek(len(head) + 1); errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, err
		}
	}
}

// endOfHead returns the place behind the empty line, 0 if there is none from the
// given place on. Lines may end without a carriage return.
func endOfHead(head []byte, from int) int {
	for at := from; ; {
		n := bytes.IndexByte(head[at:], '\n')
		if n < 0 {
			return 0
		}
		at += n + 1
		switch rest := head[at:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return at + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return at + 2
		}
	}
}

// unexpected makes the end of a connection one within a message.
func unexpected(err error) error {
	if err == io.EOF { //nolint:errorlint // as io's functions return it
		return io.ErrUnexpectedEOF
	}
	return err
}
