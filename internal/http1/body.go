// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

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
