// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"sync"
	"sync/atomic"
)

// Memory counts the bytes that responses take, from when they are received until
// they are compared. Pools may share one, with those who keep responses for them.
type Memory struct {
	limit int64
	held  atomic.Int64
}

// NewMemory returns one of which limit bytes may be taken.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Take reports whether so many bytes more may be held. They are given back by
// Return.
func (m *Memory) Take(bytes int64) bool {
	if m.held.Add(bytes) > m.limit {
		m.held.Add(-bytes)
		return false
	}
	return true
}

// Return returns bytes that were taken.
func (m *Memory) Return(bytes int64) { m.held.Add(-bytes) }

// Held returns how many bytes are taken.
func (m *Memory) Held() int64 { return m.held.Load() }

// large is held by the one worker of the process that compares large bodies.
var large sync.Mutex

// alone waits until no other worker compares large bodies, which take many times
// their size. It is called as often as a body of an exchange turns out to be one.
func (w *worker) alone() {
	if !w.large {
		large.Lock()
		w.large = true
	}
}

// share lets another worker compare large bodies.
func (w *worker) share() {
	if w.large {
		w.large = false
		large.Unlock()
	}
}
