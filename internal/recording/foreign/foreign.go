// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package foreign reads and writes requests in the forms in which other tools
// keep them: HAR, GoReplay's files, access logs, lists of vegeta and of curl, and
// lines of JSON. All of them become records, and what a form has no place for is
// counted.
package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Decoder reads records one by one, io.EOF after the last. A record is valid
// until the next call of Next.
type Decoder interface {
	Next() (*recording.Request, error)
	// Skipped returns what could not be read so far. It may be asked from
	// another goroutine.
	Skipped() *Skips
}

// Format is one form of requests.
type Format struct {
	// Name is what the form is called.
	Name string
	// New returns a decoder of what r has. Of a stream nothing is held back.
	New func(r io.Reader, stream bool) Decoder

	begins func(line []byte) bool // this line is of the form
}

// formats are tried in this order on each of the first lines.
var formats = []*Format{
	{Name: "HAR", New: newHAR, begins: beginsHAR},
	{Name: "JSON lines", New: newJSON, begins: beginsJSON},
	{Name: "GoReplay", New: newGor, begins: beginsGor},
	{Name: "curl", New: newCurl, begins: beginsCurl},
	{Name: "vegeta", New: newVegeta, begins: beginsVegeta},
	{Name: "access log", New: newAccessLog, begins: beginsAccessLog},
}

const (
	// HeadSize is how many bytes at most tell formats apart.
	HeadSize = 32 << 10

	// triedLines is how many lines may be of no form before one that is.
	triedLines = 16
)

// Recognize returns the format of something that begins with head, nil if there is
// none. It is sure once more bytes would change nothing; whole means that there
// are no more.
func Recognize(head []byte, whole bool) (format *Format, sure bool) {
	whole = whole || len(head) >= HeadSize
	if isBinary(head) {
		return nil, true
	}
	text := bytes.TrimPrefix(head, byteOrderMark)
	for range triedLines {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		for _, f := range formats {
			if (ended || whole || f.Name == "HAR") && f.begins(line) {
				return f, true
			}
		}
		if !ended {
			return nil, whole
		}
		if len(bytes.TrimSpace(line)) == 1 && bytes.Contains(line, []byte("{")) { // JSON over several lines
			if beginsHAR(text) {
				return formats[0], true
			}
			if !whole {
				return nil, false
			}
		}
		text = rest
	}
	return nil, true
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// isBinary reports whether bytes are no text, by the control characters among the
// first of them.
func isBinary(head []byte) bool {
	for _, c := range head[:min(len(head), 16)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return true
		}
	}
	return false
}

// fatal is an error after which nothing more can be read.
type fatal struct{ error }

// errNoRequest is the error of a line that is whole and is no request.
var errNoRequest = errors.New("it is no request")

// shownSkips is how many of the lines that cannot be read are told each.
const shownSkips = 3

// Skips counts what could not be read. It is safe for concurrent use.
type Skips struct {
	mu    sync.Mutex
	total int64
	fresh []error // of the first ones, those that New has not returned
}

// add counts something that cannot be read, at a place such as line 7.
func (s *Skips) add(place string, number int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	if s.total <= shownSkips {
		s.fresh = append(s.fresh, fmt.Errorf("%s %d is left out: %w", place, number, err))
	}
}

// New returns those of the first few errors that it has not returned before.
func (s *Skips) New() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.fresh
	s.fresh = nil
	return fresh
}

// Total returns how many could not be read.
func (s *Skips) Total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Summary returns what to say at the end, nil if all that could not be read has
// been told.
func (s *Skips) Summary() error {
	if total := s.Total(); total > shownSkips {
		return fmt.Errorf("%d are left out in all", total)
	}
	return nil
}
