// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewWaiter returns the most exact waiter of the platform: the kernel's timer
// behind a descriptor that the runtime's poller watches. It wakes within some
// tens of microseconds, where the runtime's own timers round up to the
// milliseconds of epoll_wait.
func NewWaiter() Waiter {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return NewTimerWaiter()
	}
	return &timerfd{timerWaiter: newTimerWaiter(), fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
}

type timerfd struct {
	timerWaiter
	fd      int
	file    *os.File
	expired [8]byte // the count of expirations, which must be read
}

// coarse is the wait that the runtime's timers take over: a context's end need
// not be watched for less.
const coarse = 20 * time.Millisecond

func (t *timerfd) Wait(ctx context.Context, until time.Time) error {
	if early := until.Add(-coarse / 2); time.Until(early) > coarse/2 {
		if err := t.timerWaiter.Wait(ctx, early); err != nil {
			return err
		}
	}
	d := time.Until(until)
	if d <= 0 {
		return ctx.Err()
	}
	if err := t.alarm(d); err != nil {
		return fmt.Errorf("setting timer: %v", err)
	}
	select { // Wake sets the timer after this, so that one of both is seen
	case <-t.woken:
		return errWoken
	default:
	}
	if _, err := t.file.Read(t.expired[:]); err != nil {
		return fmt.Errorf("waiting for timer: %v", err)
	}
	if ctx.Err() == nil && time.Until(until) > 0 {
		select {
		case <-t.woken:
		default:
		}
		return errWoken
	}
	return ctx.Err()
}

// alarm sets the timer.
func (t *timerfd) alarm(d time.Duration) error {
	alarm := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	return unix.TimerfdSettime(t.fd, 0, &alarm, nil)
}

func (t *timerfd) Wake() {
	t.timerWaiter.Wake()
	t.alarm(time.Nanosecond) //nolint:errcheck // the timer goes off later then
}

func (t *timerfd) Close() error { return t.file.Close() }
