// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// maxLine is the most bytes of a line. A longer one is left out.
const maxLine = 16 << 20

// maxLineKept is the memory of a line that is kept for the next.
const maxLineKept = 1 << 20

var errLongLine = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// lines reads lines of bounded length.
type lines struct {
	r      *bufio.Reader
	long   []byte // of a line that is longer than the reader's memory
	number int64  // of the last line, from 1
	again  []byte // a line that was read and comes once more
}

func newLines(r io.Reader) lines { return lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end, valid until the next call. The
// error is errLongLine for one that is too long, io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	if line := l.again; line != nil {
		l.again = nil
		l.number++
		return line, nil
	}
	if cap(l.long) > maxLineKept {
		l.long = nil
	}
	l.long = l.long[:0]
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		whole := err == nil
		if errors.Is(err, io.EOF) && size > 0 {
			whole = true
		}
		switch {
		case !whole && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case size > maxLine:
			l.long = l.long[:0]
		case !whole || len(l.long) > 0:
			l.long = append(l.long, part...)
		}
		if !whole {
			continue
		}
		l.number++
		switch {
		case size > maxLine:
			return nil, errLongLine
		case len(l.long) > 0:
			part = l.long
		}
		if l.number == 1 {
			part = bytes.TrimPrefix(part, byteOrderMark)
		}
		return bytes.TrimRight(part, "\r\n"), nil
	}
}

// unread makes the line that next has returned come again.
func (l *lines) unread(line []byte) {
	l.again = bytes.Clone(line)
	l.number--
}

// lineDecoder reads records of which each has a line, or begins with one.
type lineDecoder struct {
	lines
	skips Skips
	draft draft
	// parse makes a record of a line, of which it may take more. Without an error
	// and without a method there is none, and nothing is wrong.
	parse func(d *draft, line []byte) error
}

// Skipped returns the lines that could not be read.
func (l *lineDecoder) Skipped() *Skips { return &l.skips }

// Next returns the record of the next line that has one.
func (l *lineDecoder) Next() (*recording.Request, error) {
	for {
		line, err := l.next()
		at := l.number
		if err == nil {
			l.draft.reset()
			if err = l.parse(&l.draft, line); err == nil && len(l.draft.Method) == 0 {
				continue
			}
			if err == nil {
				err = l.draft.finish()
			}
			if err == nil {
				return &l.draft.Request, nil
			}
		} else if !errors.Is(err, errLongLine) {
			return nil, err
		}
		if end, ok := errors.AsType[fatal](err); ok {
			return nil, end.error
		}
		l.skips.add("line", at, err)
	}
}
