// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import "time"

// closePatience is how long Close waits for the disk.
const closePatience = 10 * time.Second

// enter begins the use of the recorder and has its goroutine running.
func (r *Recorder) enter() {
	r.inUse.Add(1)
	if r.running.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running.Load() {
		r.running.Store(true)
		before := r.finished
		r.finished = make(chan struct{})
		go r.run(before, r.finished)
	}
}

// leave ends a use. A closed recorder ends after the last one.
func (r *Recorder) leave() { r.inUse.Add(-1) }

// Close writes all that was added and finishes the file. Drafts that are in
// use then, and even later ones, are recorded as well, and written soon after
// the last of them. Another Close has those written at once that have come since.
func (r *Recorder) Close() {
	r.closing.Store(true)
	finished := r.end()
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	done := make(chan struct{})
	select {
	case r.finish <- done:
	case <-finished:
		return
	case <-patience.C:
		return
	}
	select {
	case <-done:
	case <-patience.C:
	}
}

// Running tells whether the recorder has something to write or to wait for.
func (r *Recorder) Running() bool {
	select {
	case <-r.end():
		return false
	default:
		return true
	}
}

// end is closed when the goroutine that was begun last has ended.
func (r *Recorder) end() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished
}

// StopWaiting has requests go on that wait for memory; their records are lost.
func (r *Recorder) StopWaiting() { r.budget.stopWaiting() }

// mayEnd ends the goroutine's time if nobody uses the recorder: enter either
// sees that none is running or is seen here.
func (r *Recorder) mayEnd() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running.Store(false)
	if r.inUse.Load() > 0 {
		r.running.Store(true)
		return false
	}
	return true
}
