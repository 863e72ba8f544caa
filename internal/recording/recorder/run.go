// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"time"
)

// tidyEvery is how often the directory is looked after.
const tidyEvery = time.Minute

// run writes what is added until the recorder is closed and nobody uses it.
func (r *Recorder) run(finished chan struct{}) {
	defer close(finished)
	for !r.work() {
		time.Sleep(time.Second) // after a panic
	}
}

// work does what run is for. It is over when it returns true.
func (r *Recorder) work() (over bool) {
	defer func() {
		if p := recover(); p != nil {
			r.troubles.failed(WriteFile, fmt.Errorf("panic: %v", p), "", 0)
		}
	}()
	w := newWriter(r)
	w.files.tidy(time.Now())
	tidied, sealed := time.Now(), time.Now()
	tick := time.NewTicker(max(time.Millisecond, min(r.options.FlushEvery/2, r.options.RotateEvery/2, tidyEvery/2)))
	defer tick.Stop()
	for {
		w.drain()
		if r.closing.Load() {
			w.finish()
			if r.mayEnd() {
				w.finish() // what was added by the last to leave
				r.troubles.report(true)
				return true
			}
		}
		select {
		case <-r.queue.wake:
		case done := <-r.finish:
			w.finish()
			close(done)
		case now := <-tick.C:
			if now.Sub(sealed) >= r.options.FlushEvery/2 {
				r.seal()
				sealed = now
			}
			if now.Sub(tidied) >= tidyEvery {
				w.files.tidy(now)
				r.troubles.report(false)
				tidied = now
			}
			w.files.retire(now)
		}
	}
}
