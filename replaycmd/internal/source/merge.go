// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// The connections of a server write their records as their requests end, so a
// file is out of order by as long as its slowest upload took. Records are held
// back to be sorted: no longer than sortWithin by their own clock, and never
// more of them than fit into a bounded memory.
const (
	sortWithin   = 10 * time.Second
	maxHeld      = 4096
	maxHeldBytes = 4 << 20
)

// Merge gives the records of several files in the order of their times. Files
// are open only while their times overlap; streams, of whose times nothing is
// known, are open from the start. Records without a time keep their places.
type Merge struct {
	ctx     context.Context
	notes   func(error)
	waiting []*file // by the time of their first records
	open    []*file
	sorted  heldHeap
	bytes   int
	free    []*held
	current *held
	count   int64

	size int64
	done atomic.Int64
}

// Open opens recordings. What is missing or no recording is an error. A file that
// is empty is a note, and so is one that is damaged, of type *UnreadableError: up
// to there its records are given. With the end of ctx reading ends, the error is
// context.Canceled then.
func Open(ctx context.Context, names []string, stdin io.Reader, notes func(error)) (*Merge, error) {
	m := &Merge{ctx: ctx, notes: notes}
	for order, name := range names {
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		if IsStream(name) {
			m.waiting = append(m.waiting, &file{name: title(name), order: order, Reader: recording.NewReader(OpenStream(ctx, name, stdin))})
			continue
		}
		f, err := scan(name, order)
		switch problem, damaged := errors.AsType[*UnreadableError](err); {
		case errors.Is(err, recording.ErrNotRecording):
			return nil, fmt.Errorf("%s is not a recording", name)
		case damaged:
			notes(problem)
		case err != nil:
			return nil, err
		case f == nil:
			notes(fmt.Errorf("%s has no records", name))
		default:
			m.waiting = append(m.waiting, f)
			m.size += f.size
		}
	}
	slices.SortFunc(m.waiting, func(a, b *file) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.order, b.order))
	})
	return m, nil
}

// title is what users call a file.
func title(name string) string {
	if name == Stdin {
		return "standard input"
	}
	return name
}

// Progress is how much of the files has been read, in bytes on disk, and how
// large they are.
func (m *Merge) Progress() (done, size int64) { return m.done.Load(), m.size }

// Next gives the record that comes next in time.
func (m *Merge) Next() (*recording.Request, error) {
	if m.ctx.Err() != nil {
		return nil, context.Canceled
	}
	if m.current != nil {
		m.free = append(m.free, m.current)
		m.current = nil
	}
	for !m.ready() {
		f := m.behind()
		if f == nil {
			return nil, io.EOF
		}
		if err := m.read(f); err != nil {
			return nil, err
		}
	}
	m.current = heap.Pop(&m.sorted).(*held)
	m.bytes -= len(m.current.memory)
	return &m.current.Request, nil
}

// ready says whether the first of the held records is the next in time.
func (m *Merge) ready() bool {
	switch {
	case len(m.sorted) == 0:
		return false
	case len(m.open) == 0 && len(m.waiting) == 0, len(m.sorted) >= maxHeld, m.bytes >= maxHeldBytes:
		return true
	case m.sorted[0].time == 0:
		return true
	case len(m.open) == 0: // the next file begins after all that is held, or it would be open
		return m.sorted[0].time <= m.waiting[0].first-int64(sortWithin)
	}
	return m.sorted[0].time <= m.lowest().highest-int64(sortWithin)
}

// lowest gives the open file that has been read up to the earliest time.
func (m *Merge) lowest() *file {
	return slices.MinFunc(m.open, func(a, b *file) int { return cmp.Compare(a.highest, b.highest) })
}

// behind gives the file to read on, nil if there is none. It opens a file when
// the others have been read up to where that begins.
func (m *Merge) behind() *file {
	for len(m.waiting) > 0 {
		next := m.waiting[0]
		isStream := next.Reader != nil
		if len(m.open) > 0 && !isStream && (next.first == 0 || next.first > m.lowest().highest) {
			break
		}
		m.waiting = m.waiting[1:]
		if !isStream {
			if err := next.open(&m.done); err != nil {
				m.notes(&UnreadableError{next.name, err})
				continue
			}
		}
		m.open = append(m.open, next)
	}
	if len(m.open) == 0 {
		return nil
	}
	return m.lowest()
}

// read takes one record of a file, or notes why there is none and closes it.
func (m *Merge) read(f *file) error {
	r, err := f.Next()
	switch {
	case errors.Is(err, io.EOF):
	case err != nil && m.ctx.Err() != nil: // that has ended, not the recording
		return context.Canceled
	case errors.Is(err, recording.ErrNotRecording):
		return fmt.Errorf("%s is not a recording", f.name)
	case err != nil:
		m.notes(&UnreadableError{f.name, err})
	default:
		m.hold(f, r)
		return nil
	}
	f.close()
	m.open = slices.DeleteFunc(m.open, func(other *file) bool { return other == f })
	return nil
}

func (m *Merge) hold(f *file, r *recording.Request) {
	var h *held
	if n := len(m.free); n > 0 {
		h, m.free = m.free[n-1], m.free[:n-1]
	} else {
		h = new(held)
	}
	h.hold(r)
	h.time = r.TimeNS
	if h.time == 0 {
		h.time = f.highest
	}
	h.order = m.count
	m.count++
	f.highest = max(f.highest, h.time)
	m.bytes += len(h.memory)
	heap.Push(&m.sorted, h)
}

// Close closes what is open.
func (m *Merge) Close() error {
	for _, f := range m.open {
		f.close()
	}
	m.open, m.waiting, m.sorted = nil, nil, nil
	return nil
}
