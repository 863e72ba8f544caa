// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import "sync/atomic"

// maxHeld is how many bytes of requests a tee holds for its copies, or max_body
// if that is more.
var maxHeld int64 = 256 << 20

// memory counts the bytes of the requests whose copies are being received, wait
// or are being sent, so that clients cannot fill the server while a shadow is
// slow. Shadows share a request, which counts once.
type memory struct {
	limit int64
	held  atomic.Int64
}

// full tells whether nothing more is to be held.
func (m *memory) full() bool { return m.held.Load() >= m.limit }

// keep counts bytes that the snapshot holds until it is released.
func (s *snapshot) keep(bytes int) {
	s.held += int64(bytes)
	s.memory.held.Add(int64(bytes))
}

// giveBack is called when the snapshot holds nothing any more.
func (s *snapshot) giveBack() {
	s.memory.held.Add(-s.held)
	s.held = 0
}
