// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package source reads what is to be sent: recordings of any format that it
// knows, merged in the order of time, or one URL over and over. Where they are
// kept is up to those who open them.
package source

import (
	"errors"
	"io"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Source returns records one by one, io.EOF after the last. A record is valid
// until the next call of Next.
type Source interface {
	Next() (*recording.Request, error)
	io.Closer
}

// UnreadableError is part of a recording that can't be sent.
type UnreadableError struct {
	Name string // of the file
	Err  error
}

// Error returns the file's name and what is wrong with it.
func (p *UnreadableError) Error() string { return p.Name + ": " + p.Err.Error() }

// Unwrap returns the cause.
func (p *UnreadableError) Unwrap() error { return p.Err }

// Loop begins a source again and again. Recorded times go on where the last
// round ended, after a gap as long as they have on average.
type Loop struct {
	open    func() (Source, error)
	current Source
	shifted recording.Request

	count       int64 // records of this round
	timed       int64 // those of them that have a time
	first, last int64 // their times
	shift       int64
	round       int
}

// Round returns how often the source has begun again.
func (l *Loop) Round() int { return l.round }

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
	l.count++
	if r.TimeNS == 0 {
		return r, nil
	}
	if l.timed++; l.timed == 1 {
		l.first = r.TimeNS
	}
	l.last = max(l.last, r.TimeNS)
	if l.shift == 0 {
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
		gap = span / (l.timed - 1)
		l.shift += span
	}
	l.shift += gap
	l.count, l.timed, l.last = 0, 0, 0
	next, err := l.open()
	l.round++
	if err != nil {
		return err
	}
	l.current = next
	return nil
}

// Close closes the source of this round.
func (l *Loop) Close() error { return l.current.Close() }
