// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// How far one target may be ahead of another on the same tape.
const (
	maxAhead      = 1024
	maxAheadBytes = 64 << 20
)

// Records is where requests come from.
type Records interface {
	Next() (*recording.Request, error)
}

// entry is one request on the tape.
type entry struct {
	message send.Message
	due     time.Duration
	class   int
	written bool
	bad     error        // why it can't be sent
	users   atomic.Int32 // targets that are not done with it
}

// tape reads records and keeps each until every target has sent it. It is read
// no further than its slowest target allows.
type tape struct {
	records  Records
	same     bool // all records are one and the same
	rewriter *send.Rewriter
	schedule pace.Schedule
	classify func(method, target []byte) int
	limit    int64         // how many requests; 0: all
	until    time.Duration // requests due from then on aren't sent; 0: all are
	stopping func()        // makes a read of records return

	mu      sync.Mutex
	moved   sync.Cond // an entry has been taken or read, or the tape has ended
	entries []*entry  // that not all targets have taken
	base    int64     // the number of the first of these
	bytes   int
	heads   []int64 // for each target, the number of the entry that it takes next
	reading bool    // a target reads the next record, without the lock
	read    int64
	hurried int64 // which record was read at the last call of hurry, -1: none
	free    []*entry
	over    bool  // nothing more is taken
	err     error // why nothing more is read; io.EOF at the regular end
}

func (t *tape) start(ctx context.Context, targets int) (stop func() bool) {
	t.moved.L = &t.mu
	t.heads = make([]int64, targets)
	t.hurried = -1
	return context.AfterFunc(ctx, t.end)
}

// end lets nothing more be taken.
func (t *tape) end() {
	t.stopping()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.moved.Broadcast()
}

// hurry ends reading if it is at the same record as at the last call.
func (t *tape) hurry() {
	t.mu.Lock()
	at := int64(-1)
	if t.reading {
		at = t.read
	}
	stuck := at >= 0 && at == t.hurried
	t.hurried = at
	t.mu.Unlock()
	if stuck {
		t.stopping()
	}
}

// next gives the next entry to a target, nil after the last. The target gives
// it back when it is done with it.
func (t *tape) next(target int) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.over && t.heads[target] == t.base+int64(len(t.entries)) {
		switch {
		case t.err != nil:
			return nil
		case t.reading, len(t.entries) >= maxAhead, len(t.entries) > 0 && t.bytes >= maxAheadBytes:
			t.moved.Wait()
		default:
			t.readOne()
		}
	}
	if t.over {
		return nil
	}
	e := t.entries[t.heads[target]-t.base]
	t.heads[target]++
	t.forget()
	return e
}

// forget drops the entries that every target has taken.
func (t *tape) forget() {
	slowest := t.heads[0]
	for _, head := range t.heads[1:] {
		slowest = min(slowest, head)
	}
	n := int(slowest - t.base)
	if n == 0 {
		return
	}
	for _, e := range t.entries[:n] {
		t.bytes -= e.message.Size()
	}
	t.entries = append(t.entries[:0], t.entries[n:]...)
	t.base = slowest
	if len(t.heads) > 1 {
		t.moved.Broadcast()
	}
}

// readOne puts one more record on the tape. While it reads, the tape is open to
// others: reading may take as long as a pipe has nothing.
func (t *tape) readOne() {
	e := t.blank()
	t.reading = true
	t.mu.Unlock()
	err := t.fill(e)
	t.mu.Lock()
	t.reading = false
	if err != nil {
		t.err = err
	} else {
		e.users.Store(int32(len(t.heads)))
		t.entries = append(t.entries, e)
		t.bytes += e.message.Size()
		t.read++
	}
	if len(t.heads) > 1 {
		t.moved.Broadcast()
	}
}

// fill makes an entry of the next record.
func (t *tape) fill(e *entry) error {
	if t.limit > 0 && t.read == t.limit {
		return io.EOF
	}
	record, err := t.records.Next()
	if err != nil {
		return err
	}
	due := t.schedule.Next(record.TimeNS)
	if t.until > 0 && due >= t.until {
		return io.EOF
	}
	e.due = due
	if !e.written || !t.same {
		e.bad = t.rewriter.Write(&e.message, record)
		e.class = t.classify(record.Method, record.URI)
		e.written = true
	}
	return nil
}

func (t *tape) blank() *entry {
	if n := len(t.free); n > 0 {
		e := t.free[n-1]
		t.free = t.free[:n-1]
		return e
	}
	return new(entry)
}

// giveBack takes an entry back from a target.
func (t *tape) giveBack(e *entry) {
	if e.users.Add(-1) > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = append(t.free, e)
}

// failure is why the tape ended, nil if that was regular.
func (t *tape) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(t.err, io.EOF) || errors.Is(t.err, context.Canceled) {
		return nil
	}
	return t.err
}
