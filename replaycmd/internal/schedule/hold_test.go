// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// chain is a target of which some messages wait for others.
type chain struct {
	takes map[int]time.Duration // of a message; the others take a millisecond
	after map[int]int           // which one a message waits for
	pause time.Duration         // after that
	fails map[int]bool

	mu      sync.Mutex
	began   time.Time
	starts  map[int]Start
	ended   map[int]time.Duration
	dropped []int
	skipped []int
	waiting map[int][]func()
}

func newChain(after map[int]int) *chain {
	return &chain{
		after: after, takes: make(map[int]time.Duration), fails: make(map[int]bool), began: time.Now(),
		starts: make(map[int]Start), ended: make(map[int]time.Duration), waiting: make(map[int][]func()),
	}
}

func (c *chain) NewSender(context.Context) Sender[int] { return c }

func (c *chain) Close() {}

func (c *chain) Skip(m *int, _ time.Duration) {
	c.mu.Lock()
	c.skipped = append(c.skipped, *m)
	c.mu.Unlock()
	c.end(*m, true)
}

func (c *chain) Send(m *int, start Start) {
	c.mu.Lock()
	c.starts[*m] = start
	takes, ok := c.takes[*m]
	fails := c.fails[*m]
	c.mu.Unlock()
	if !ok {
		takes = time.Millisecond
	}
	time.Sleep(takes)
	c.end(*m, fails)
}

func (c *chain) end(m int, failed bool) {
	c.mu.Lock()
	c.fails[m] = failed
	c.ended[m] = time.Since(c.began)
	waiting := c.waiting[m]
	c.mu.Unlock()
	for _, again := range waiting {
		again()
	}
}

func (c *chain) Check(m *int, again func()) (Decision, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, ok := c.after[*m]
	if !ok {
		return Go, 0
	}
	ended, done := c.ended[first]
	switch {
	case !done:
		if again != nil {
			c.waiting[first] = append(c.waiting[first], again)
		}
		return Hold, 0
	case c.fails[first]:
		c.dropped = append(c.dropped, *m)
		c.fails[*m], c.ended[*m] = true, ended
		for _, again := range c.waiting[*m] {
			again()
		}
		return Drop, 0
	case c.pause == 0:
		return Go, 0
	}
	return Go, ended + c.pause
}

func sendChains(t *testing.T, run *Run[int], n, size int, chains ...*chain) {
	t.Helper()
	run.Next, run.Size, run.Holding = numbers(n), func(*int) int { return size }, true
	for _, c := range chains {
		run.Targets = append(run.Targets, c)
	}
	run.Prepare()
	for _, l := range run.lanes {
		l.waiter.Close()
		l.waiter = NewTimerWaiter()
	}
	if err := run.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, l := range run.lanes {
		if l.room.held != 0 || l.room.bytes != 0 {
			t.Errorf("lane %d still holds %d messages of %d bytes", i, l.room.held, l.room.bytes)
		}
	}
}

// One that waits is late, and nothing else is, at any number of connections that
// the others can do with.
func TestOnlyThoseWaitThatFollow(t *testing.T) {
	for _, connections := range []int{2, 3, 50} {
		synctest.Test(t, func(t *testing.T) {
			slow, quick := newChain(map[int]int{20: 3, 21: 3, 22: 21}), newChain(map[int]int{20: 3, 21: 3, 22: 21})
			slow.takes[3] = 2 * time.Second
			sendChains(t, &Run[int]{Schedule: Schedule{Rate: Steady(100)}, Connections: connections}, 400, 1, slow, quick)
			for _, c := range []*chain{slow, quick} {
				if len(c.starts) != 400 || len(c.dropped)+len(c.skipped) > 0 {
					t.Fatalf("%d were sent, dropped %v, skipped %v", len(c.starts), c.dropped, c.skipped)
				}
				for m, s := range c.starts {
					follows := c == slow && m >= 20 && m <= 22
					if s.Due != time.Duration(m)*10*time.Millisecond || s.Waited != follows || s.Busy {
						t.Errorf("%d connections: %d is %+v", connections, m, s)
					}
					switch late := s.Started - s.Due; {
					case !follows && late != 0 && (connections > 3 || late > 2*time.Millisecond):
						t.Errorf("%d connections: %d started %v late", connections, m, late)
					case follows && s.Started < c.ended[c.after[m]]:
						t.Errorf("%d started before %d had ended", m, c.after[m])
					case follows && s.Started > 2040*time.Millisecond:
						t.Errorf("%d connections: %d started at %v", connections, m, s.Started)
					}
				}
			}
		})
	}
}

// What fails takes those with it that follow, however it fails.
func TestWhatFollowsAFailureIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(map[int]int{5: 1, 6: 5, 7: 2})
		c.takes[1], c.fails[1] = time.Second, true
		sendChains(t, &Run[int]{Schedule: Schedule{Rate: Steady(100)}, Connections: 4}, 10, 1, c)
		if slices.Sort(c.dropped); !slices.Equal(c.dropped, []int{5, 6}) || len(c.starts) != 8 {
			t.Errorf("dropped %v, sent %d", c.dropped, len(c.starts))
		}
	})
}

// A pause after another counts from its end, and makes nothing late.
func TestAPauseCountsFromTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(map[int]int{5: 1, 8: 7})
		c.takes[1], c.pause = time.Second, 500*time.Millisecond
		sendChains(t, &Run[int]{Schedule: Schedule{Rate: Steady(100)}, Connections: 4}, 10, 1, c)
		for m, want := range map[int]time.Duration{5: 1510 * time.Millisecond, 8: 571 * time.Millisecond, 9: 90 * time.Millisecond} {
			if s := c.starts[m]; s.Due != want || s.Started != want || s.Waited {
				t.Errorf("%d is %+v, want it at %v", m, s, want)
			}
		}
	})
}

// Without a schedule what waits holds up nothing either, over one connection.
func TestWaitingWithoutASchedule(t *testing.T) {
	for _, connections := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			c := newChain(map[int]int{1: 0, 2: 1, 3: 2, 9: 3})
			sendChains(t, &Run[int]{Connections: connections}, 10, 1, c)
			if len(c.starts) != 10 {
				t.Errorf("%d were sent", len(c.starts))
			}
		})
	}
}

// How many wait is bounded: under a schedule those beyond are skipped, and
// without one nothing more is read.
func TestWaitingIsBounded(t *testing.T) {
	for name, size := range map[string]int{"small": 1, "large": 1 << 20} {
		after := make(map[int]int)
		const n = maxHeld + 100
		for m := 1; m < n; m++ {
			after[m] = 0
		}
		synctest.Test(t, func(t *testing.T) {
			c := newChain(after)
			c.takes[0] = time.Hour
			sendChains(t, &Run[int]{Schedule: Schedule{Rate: Steady(1000)}, Connections: 4}, n, size, c)
			if kept := min(maxHeld, maxHeldBytes/size); len(c.skipped)+len(c.starts) != n || len(c.starts) > kept+1 || len(c.starts) < kept-100 {
				t.Errorf("%s: %d were sent and %d skipped", name, len(c.starts), len(c.skipped))
			}
		})
		synctest.Test(t, func(t *testing.T) {
			c := newChain(after)
			c.takes[0] = time.Hour
			sendChains(t, &Run[int]{Connections: 4}, n, size, c)
			if len(c.starts) != n {
				t.Errorf("%s: without a schedule %d were sent", name, len(c.starts))
			}
		})
	}
}

// The end of a run doesn't wait for what others wait for.
func TestWaitingEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(map[int]int{1: 0})
		c.takes[0] = time.Minute
		sendChains(t, &Run[int]{Schedule: Schedule{Rate: Steady(1)}, Connections: 4, Duration: 10 * time.Second}, 100, 1, c)
		if !slices.Equal(c.skipped, []int{1}) || len(c.starts) != 9 {
			t.Errorf("skipped %v, sent %d", c.skipped, len(c.starts))
		}
	})
}
