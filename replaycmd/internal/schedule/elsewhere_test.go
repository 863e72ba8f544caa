// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadingForOthersIsNotStuck has the one request of a run stand behind many of
// others, reading which takes longer than the run: it is counted as any that was
// due in time.
func TestReadingForOthersIsNotStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := new(fake)
		n, stopped := 0, false
		run := &Run[int]{
			Next: func(m *int) (int64, error) {
				if n++; stopped || n > 101 {
					return 0, io.EOF
				}
				time.Sleep(100 * time.Millisecond) // the disk is slow
				if n < 101 {
					return int64(n), ErrElsewhere
				}
				*m = n
				return int64(n), nil
			},
			Size: func(*int) int { return 1 }, Schedule: Schedule{Speed: 1}, Targets: []Target[int]{target},
			Connections: 1, Duration: 2 * time.Second, StopReading: func() { stopped = true },
		}
		run.Prepare()
		for _, l := range run.lanes {
			l.waiter.Close()
			l.waiter = NewTimerWaiter()
		}
		if err := run.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		if total := len(target.sent) + target.skipped; total != 1 || stopped && n < 101 {
			t.Errorf("%d requests of 1 were sent or missed, %d records were read", total, n)
		}
	})
}
