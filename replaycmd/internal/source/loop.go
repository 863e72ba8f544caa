// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Loop begins a source again and again. Recorded times go on where the last
// round ended, after a gap as long as they have on average.
type Loop struct {
	open    func() (Source, error)
	current Source
	shifted recording.Request

	count       int64 // records of this round
	first, last int64 // their times
	shift       int64
}

// NewLoop returns a source that opens another whenever one ends.
func NewLoop(open func() (Source, error)) (*Loop, error) {
	first, err := open()
	if err != nil {
		return nil, err
	}
	return &Loop{open: open, current: first}, nil
}

// Next returns the next record of this round or the first of another. It ends
// only if a round has no records.
func (l *Loop) Next() (*recording.Request, error) {
	r, err := l.current.Next()
	if errors.Is(err, io.EOF) && l.count > 0 {
		if err := l.again(); err != nil {
			return nil, err
		}
		r, err = l.current.Next()
	}
	if err != nil {
		return nil, err
	}
	if l.count == 0 {
		l.first = r.TimeNS
	}
	l.count++
	l.last = max(l.last, r.TimeNS)
	if r.TimeNS == 0 || l.shift == 0 {
		return r, nil
	}
	l.shifted = *r
	l.shifted.TimeNS += l.shift
	return &l.shifted, nil
}

// again opens the source for another round.
func (l *Loop) again() error {
	if err := l.current.Close(); err != nil {
		return err
	}
	gap := int64(time.Second) // of records that have no distance
	if span := l.last - l.first; span > 0 {
		gap = span / (l.count - 1)
		l.shift += span
	}
	l.shift += gap
	l.count, l.last = 0, 0
	next, err := l.open()
	if err != nil {
		return err
	}
	l.current = next
	return nil
}

// Close closes the source of this round.
func (l *Loop) Close() error { return l.current.Close() }
