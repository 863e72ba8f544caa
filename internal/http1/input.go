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

// body reads the body of one response.
type body struct {
	in      *input
	size    *int64 // how much was read
	limit   int64  // 0: none
	capture *Capture
}

// read reads the body and drops what is not captured. It reports whether that
// was all of it.
func (b *body) read(h *head) (whole bool, err error) {
	switch {
	case h.chunked:
		return b.chunks()
	case h.delimited():
		return b.take(h.length)
	}
	for {
		if _, err := b.in.br.Peek(1); err != nil {
			if err == io.EOF { //nolint:errorlint // not the one of TLS that was cut
				return true, nil
			}
			return false, err
		}
		if whole, err := b.take(int64(b.in.br.Buffered())); !whole {
			return false, err
		}
	}
}

// take reads n bytes of the body, or up to the limit, and reports whether the
// limit was kept.
func (b *body) take(n int64) (whole bool, err error) {
	whole = b.limit == 0 || n <= b.limit-*b.size
	if !whole {
		n = b.limit - *b.size
	}
	if b.capture != nil {
		kept, err := b.keep(min(n, int64(b.capture.Room())))
		if err != nil {
			return false, err
		}
		n -= kept
	}
	for n > 0 {
		piece := min(n, 1<<30)
		if b.in.br != b.in.small {
			piece = min(n, int64(max(1, b.in.br.Buffered())))
		}
		dropped, err := b.in.br.Discard(int(piece))
		b.in.shrink()
		*b.size += int64(dropped)
		n -= int64(dropped)
		if err != nil {
			return false, unexpected(err)
		}
	}
	return whole, nil
}

// keep reads n bytes into the capture, whose memory grows with what comes and
// not with what was announced.
func (b *body) keep(n int64) (kept int64, err error) {
	for kept < n {
		if _, err := b.in.br.Peek(1); err != nil {
			return kept, unexpected(err)
		}
		piece, _ := b.in.br.Peek(int(min(n-kept, int64(b.in.br.Buffered()))))
		if !b.capture.Grow(len(piece)) {
			return kept, nil
		}
		b.capture.Body = append(b.capture.Body, piece...)
		b.in.discard(len(piece))
		kept += int64(len(piece))
		*b.size += int64(len(piece))
	}
	return kept, nil
}

// chunks reads a chunked body and its trailers.
func (b *body) chunks() (whole bool, err error) {
	for {
		line, err := b.line()
		if err != nil {
			return false, err
		}
		n, err := chunkSize(line)
		if err != nil {
			return false, err
		}
		if n == 0 {
			return true, b.trailers()
		}
		if whole, err := b.take(n); !whole {
			return false, err
		}
		if line, err = b.line(); err != nil {
			return false, err
		}
		if len(line) > 0 {
			return false, errors.New("a chunk has no end")
		}
	}
}

// line reads a line and takes its end off.
func (b *body) line() ([]byte, error) {
	line, err := b.in.br.ReadSlice('\n')
	if err != nil {
		return nil, unexpected(err)
	}
	return withoutEnd(line), nil
}

// chunkSize parses the line before a chunk. What follows the size there may be
// ignored.
func chunkSize(line []byte) (n int64, err error) {
	digits := 0
	for _, c := range line {
		d := hexDigits[c]
		if d < 0 {
			break
		}
		n = n<<4 | int64(d)
		if digits++; digits > 15 {
			return 0, errors.New("a chunk is too large")
		}
	}
	rest := bytes.TrimLeft(line[digits:], " \t")
	if digits == 0 || len(rest) > 0 && rest[0] != ';' {
		return 0, fmt.Errorf("'%.20s' is not the size of a chunk", line)
	}
	return n, nil
}

var hexDigits = func() (digits [256]int8) {
	for i := range digits {
		digits[i] = -1
	}
	for i, c := range []byte("0123456789abcdef") {
		digits[c] = int8(i)
		digits[bytes.ToUpper([]byte{c})[0]] = int8(i)
	}
	return digits
}()

// trailers reads what follows the last chunk, up to the empty line. Which fields
// stand there is nobody's concern here.
func (b *body) trailers() error {
	for read := 0; read < maxTrailers; {
		line, err := b.in.br.ReadSlice('\n')
		if err != nil {
			return unexpected(err)
		}
		if len(withoutEnd(line)) == 0 {
			return nil
		}
		if b.capture != nil {
			b.capture.Trailers = append(b.capture.Trailers, line...)
		}
		read += len(line)
	}
	return fmt.Errorf("the trailers are larger than %d bytes", maxTrailers)
}

// withoutEnd takes the end off a line.
func withoutEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// unexpected makes the end of a connection one within a message.
func unexpected(err error) error {
	if err == io.EOF { //nolint:errorlint // as io's functions return it
		return io.ErrUnexpectedEOF
	}
	return err
}
