// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"container/heap"
	"sync"
	"time"
)

// Holder is a target of which a message may have to wait until another is done.
// One that waits takes no connection.
type Holder[M any] interface {
	Target[M]
	// Check decides whether a message that is due can be sent. If it returns Hold
	// it calls again later, once, from any goroutine and with no lock that Check
	// takes, and is asked again then. Without again there is no room to wait. After
	// Go a message is due at the later of the time when it was and the one
	// returned, counted from the start of the run.
	Check(m *M, again func()) (Decision, time.Duration)
}

// Decision is what is to be done with a message.
type Decision uint8

// The decisions.
const (
	Go   Decision = iota // it is sent
	Hold                 // it waits
	Drop                 // it is not sent
)

const (
	// maxHeld is how many messages of a lane wait at most, under a schedule: what
	// comes beyond is skipped.
	maxHeld = 16_384
	// maxHeldBytes bounds the bytes of those of all lanes, so that they never
	// keep the feed from reading what they wait for.
	maxHeldBytes = maxFlying / 2

	// maxHeldAhead and maxHeldAheadBytes are the same without a schedule: nothing
	// more is read then. It takes so many to find others that can be sent.
	maxHeldAhead      = 1024
	maxHeldAheadBytes = 8 << 20
)

// turn is one message of one lane.
type turn[M any] struct {
	*entry[M]
	due     time.Duration
	ready   time.Duration // when it could be sent, having waited; 0: it has not
	checked bool
}

// room is where the messages of a lane are that wait.
type room[M any] struct {
	held  int // until they are done with
	bytes int
	later turns[M] // checked, and not due before

	mu    sync.Mutex
	again []turn[M] // to be checked again
}

func (r *room[M]) enter(t turn[M]) {
	r.held++
	r.bytes += t.bytes
}

func (r *room[M]) leave(t turn[M]) {
	r.held--
	r.bytes -= t.bytes
}

// callBack takes a turn that is to be checked again.
func (r *room[M]) callBack(t turn[M]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = append(r.again, t)
}

// called returns a turn that is to be checked again, and false if there is none.
func (r *room[M]) called() (t turn[M], ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.again) == 0 {
		return t, false
	}
	t = r.again[0]
	r.again[0] = turn[M]{}
	r.again = r.again[1:]
	return t, true
}

// full reports whether nothing more can wait.
func (l *lane[M]) full() bool {
	most, bytes := maxHeld, maxHeldBytes
	if !l.timed {
		most, bytes = maxHeldAhead, maxHeldAheadBytes
	}
	return l.room.held >= most || l.room.bytes >= bytes/len(l.run.lanes)
}

// check asks the target about a turn and reports whether it can be sent at its
// time. If not it waits, or is over.
func (l *lane[M]) check(t *turn[M]) bool {
	if l.holder == nil || t.checked {
		return true
	}
	var again func()
	if t.ready > 0 || !l.full() {
		held := *t
		again = func() {
			held.ready = time.Since(l.start)
			l.room.callBack(held)
			l.waiter.Wake()
		}
	}
	switch decision, due := l.holder.Check(&t.message, again); {
	case decision == Go:
		t.due, t.checked = max(t.due, due), true
		return true
	case decision == Drop:
		l.feed.release(t.entry)
	case again == nil:
		l.skip(*t)
	default:
		l.room.enter(*t)
	}
	return false
}

// checkAgain checks what has been called back.
func (l *lane[M]) checkAgain() {
	for {
		t, ok := l.room.called()
		if !ok {
			return
		}
		l.room.leave(t)
		if l.check(&t) {
			l.room.enter(t)
			heap.Push(&l.room.later, t)
		}
	}
}

// turns is a heap by when they are due.
type turns[M any] []turn[M]

func (t turns[M]) Len() int { return len(t) }

func (t turns[M]) Less(i, j int) bool { return t[i].due < t[j].due }

func (t turns[M]) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

func (t *turns[M]) Push(x any) { *t = append(*t, x.(turn[M])) }

func (t *turns[M]) Pop() any {
	last := (*t)[len(*t)-1]
	(*t)[len(*t)-1] = turn[M]{}
	*t = (*t)[:len(*t)-1]
	return last
}
