// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"time"
)

const (
	// tidyEvery is how often the directory is looked after.
	tidyEvery = time.Minute

	// endEvery is how often a recorder that was closed looks whether it may end.
	// Requests that come late, one by one, get a file together.
	endEvery = time.Second
)

// run writes what is added until the recorder is closed and nobody uses it. It
// begins when the one before it has finished.
func (r *Recorder) run(before <-chan struct{}, finished chan<- struct{}) {
	<-before
	defer close(finished)
	for !r.work() {
		time.Sleep(time.Second) // after a panic
	}
}

// work does what run is for. It is over when it returns true.
func (r *Recorder) work() (over bool) {
	w := newWriter(r)
	defer func() {
		if p := recover(); p != nil {
			r.troubles.failed(WriteFile, fmt.Errorf("panic: %v", p), "", 0)
			w.files.abandon()
		}
	}()
	w.files.tidy(time.Now())
	tidied, sealed, looked := time.Now(), time.Now(), time.Now()
	tick := time.NewTicker(max(time.Millisecond, min(time.Duration(r.options.FlushEvery/2), time.Duration(r.options.RotateEvery/2), endEvery)))
	defer tick.Stop()
	for {
		w.drain()
		select {
		case <-r.queue.wake:
		case done := <-r.finish:
			last := r.mayEnd()
			w.finish()
			r.troubles.report(true)
			close(done)
			if last {
				return true
			}
		case now := <-tick.C:
			if now.Sub(sealed) >= time.Duration(r.options.FlushEvery/2) {
				r.seal()
				sealed = now
			}
			if now.Sub(tidied) >= tidyEvery {
				w.files.tidy(now)
				r.troubles.report(false)
				tidied = now
			}
			w.files.retire(now)
			if now.Sub(looked) >= endEvery {
				looked = now
				if r.closing.Load() && r.mayEnd() {
					w.finish() // what was added by the last to leave
					r.troubles.report(true)
					return true
				}
			}
		}
	}
}
