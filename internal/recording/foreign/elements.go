// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"errors"
	"io"
)

// elements reads the elements of an array in JSON one by one, from behind its
// bracket on. It looks at brackets, commas and quotes only.
type elements struct {
	r     *bufio.Reader
	limit int64 // bytes of an element that are kept
	text  []byte
}

// next returns the text of the next element, valid until the next call, and its
// size. Of one with more bytes than the limit there is no text. The error is io.EOF
// behind the last, and io.ErrUnexpectedEOF where the array has no end.
func (e *elements) next() (text []byte, size int64, err error) {
	e.forget()
	e.text = e.text[:0]
	var scan elementScan
	for {
		if _, err := e.r.Peek(1); errors.Is(err, io.EOF) {
			return nil, size, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, size, err
		}
		chunk, _ := e.r.Peek(e.r.Buffered()) // which is there
		n, ended := scan.over(chunk)
		size += int64(n)
		if size > e.limit {
			e.text = nil
		} else {
			e.text = append(e.text, chunk[:n]...)
		}
		last := ended && chunk[n] == ']'
		if ended && !last {
			n++ // the comma
		}
		e.r.Discard(n) //nolint:errcheck // it was there
		switch {
		case last && !scan.something:
			return nil, 0, io.EOF
		case ended:
			return e.text, size, nil
		}
	}
}

// forget releases the memory of a long text.
func (e *elements) forget() {
	if cap(e.text) > maxLineKept {
		e.text = nil
	}
}

// elementScan is where in an element a scan is.
type elementScan struct {
	depth             int
	inString, escaped bool
	something         bool // but white space
}

// over scans on, and returns how many bytes belong to the element, and whether
// what follows them ends it.
func (s *elementScan) over(chunk []byte) (n int, ended bool) {
	for i, c := range chunk {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped, s.inString = c == '\\', c != '"'
		case s.depth == 0 && (c == ',' || c == ']'):
			return i, true
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth = max(0, s.depth-1)
		}
		s.something = s.something || c > ' '
	}
	return len(chunk), false
}
