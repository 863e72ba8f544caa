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
	maxKept      = 256 << 10 // of a copy that is kept for another record
)

// Merge is the records of several files in the order of their times. Files
// are open only while their times overlap; streams, of whose times nothing is
// known, are open from the start, and one that has nothing more for the moment
// holds back what there is no longer than patience lasts. Records without a time keep their places.
type Merge struct {
	ctx     context.Context
	notes   func(error)
	waiting []*file // by the time of their first records
	open    []*file
	sorted  heldHeap
	bytes   int
	free    []*held    // for records of files
	spare   chan *held // for those of streams

	patience time.Duration
	current  *held

	size  int64
	done  atomic.Int64
	read  atomic.Int64 // records
	given atomic.Int64
}

// Open opens recordings. What is missing or no recording is an error. One that
// is empty is a note, and so is one that is damaged, of type *UnreadableError: up
// to there its records are read. With the end of ctx reading ends, the error is
// context.Canceled then.
func Open(ctx context.Context, inputs []Input, notes func(error)) (*Merge, error) {
	m := &Merge{ctx: ctx, notes: notes, spare: make(chan *held, maxAhead), patience: patience}
	for order, input := range inputs {
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		if input.Stream {
			m.waiting = append(m.waiting, &file{Input: input, order: order})
			continue
		}
		if input.Begins != 0 {
			m.waiting = append(m.waiting, &file{Input: input, order: order, first: input.Begins})
			m.size += input.Size
			continue
		}
		f, err := scan(input, order, notes)
		switch problem, damaged := errors.AsType[*UnreadableError](err); {
		case errors.Is(err, recording.ErrNotRecording):
			return nil, fmt.Errorf("%s is not a recording", input.Name)
		case damaged:
			notes(problem)
		case err != nil:
			return nil, err
		case f == nil:
			notes(fmt.Errorf("%s has no records", input.Name))
		default:
			m.waiting = append(m.waiting, f)
			m.size += f.Size
		}
	}
	slices.SortFunc(m.waiting, func(a, b *file) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.order, b.order))
	})
	return m, nil
}

// Progress returns how much of the files has been passed on, in bytes on disk,
// and how large they are.
func (m *Merge) Progress() (done, size int64) {
	given, read := m.given.Load(), m.read.Load()
	if read == 0 {
		return 0, m.size
	}
	return int64(float64(m.done.Load()) * float64(given) / float64(read)), m.size
}

// Next returns the record that comes next in time.
func (m *Merge) Next() (*recording.Request, error) {
	if m.ctx.Err() != nil {
		return nil, context.Canceled
	}
	if m.current != nil {
		m.reuse(m.current)
		m.current = nil
	}
	for !m.ready() {
		f := m.behind()
		if f == nil {
			return nil, io.EOF
		}
		if err := m.take(f); err != nil {
			return nil, err
		}
	}
	m.current = heap.Pop(&m.sorted).(*held)
	m.bytes -= m.current.Size()
	m.given.Add(1)
	return &m.current.Request, nil
}

// reuse keeps a copy for another record.
func (m *Merge) reuse(h *held) {
	if h.Size() > maxKept {
		return
	}
	if !h.streamed {
		m.free = append(m.free, h)
		return
	}
	select {
	case m.spare <- h:
	default:
	}
}

// ready reports whether the first of the held records is the next in time.
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
	lowest := m.lowest()
	return lowest.waits() || m.sorted[0].time <= lowest.highest-int64(sortWithin)
}

// lowest returns the open file that has been read up to the earliest time. A
// stream that has nothing more for the moment comes last.
func (m *Merge) lowest() *file {
	return slices.MinFunc(m.open, func(a, b *file) int {
		if a.waits() != b.waits() {
			if b.waits() {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.highest, b.highest)
	})
}

// behind returns the file to read on, nil if there is none. It opens a file when
// the others have been read up to where that begins.
func (m *Merge) behind() *file {
	for len(m.waiting) > 0 {
		next := m.waiting[0]
		if len(m.open) > 0 && !next.Stream && (next.first == 0 || next.first > m.lowest().highest) {
			break
		}
		m.waiting = m.waiting[1:]
		if next.Stream {
			next.readAhead(m.ctx, m.spare)
		} else if err := next.open(&m.done); err != nil {
			m.notes(&UnreadableError{next.Name, err})
			continue
		}
		m.open = append(m.open, next)
	}
	if len(m.open) == 0 {
		return nil
	}
	return m.lowest()
}

// take takes one record of a file, or notes why there is none and closes it.
func (m *Merge) take(f *file) error {
	h, err := m.next(f)
	f.noteSkipped(m.notes, err != nil)
	switch {
	case err == nil && h == nil: // the stream waits
		return nil
	case err == nil:
		m.hold(f, h)
		return nil
	case errors.Is(err, io.EOF):
	case m.ctx.Err() != nil: // that has ended, not the recording
		return context.Canceled
	case errors.Is(err, recording.ErrNotRecording):
		return fmt.Errorf("%s is not a recording", f.Name)
	default:
		m.notes(&UnreadableError{f.Name, err})
	}
	f.close()
	m.open = slices.DeleteFunc(m.open, func(other *file) bool { return other == f })
	return nil
}

// next returns a copy of the next record of a file.
func (m *Merge) next(f *file) (*held, error) {
	if f.Stream {
		return f.next(m.ctx, m.patience, len(m.sorted) == 0)
	}
	r, err := f.decoder.Next()
	if err != nil {
		return nil, err
	}
	var h *held
	if n := len(m.free); n > 0 {
		h, m.free = m.free[n-1], m.free[:n-1]
	} else {
		h = new(held)
	}
	h.Take(r)
	return h, nil
}

func (m *Merge) hold(f *file, h *held) {
	h.time = h.TimeNS
	if h.time == 0 {
		h.time = f.highest
	}
	h.order = m.read.Add(1)
	f.highest = max(f.highest, h.time)
	m.bytes += h.Size()
	heap.Push(&m.sorted, h)
}

// Close closes what is open.
func (m *Merge) Close() error {
	for _, f := range m.open {
		f.noteSkipped(m.notes, true)
		f.close()
	}
	m.open, m.waiting, m.sorted = nil, nil, nil
	return nil
}

// held is a copy of a record in memory of its own.
type held struct {
	recording.Copy
	time     int64 // TimeNS, or that of the record before if it has none
	order    int64 // of reading
	streamed bool  // it comes from a stream
}

// heldHeap is a heap of copies by time, and by the order of reading within that.
type heldHeap []*held

func (h heldHeap) Len() int { return len(h) }

func (h heldHeap) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].order < h[j].order
}

func (h heldHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heldHeap) Push(x any) { *h = append(*h, x.(*held)) }

func (h *heldHeap) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
