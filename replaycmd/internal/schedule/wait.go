// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"time"
)

// Waiter waits for moments. It is for one goroutine at a time, but for Wake.
type Waiter interface {
	// Wait returns at the given moment, or before it with the context's
	// error when that ends and with errWoken after a call of Wake.
	Wait(ctx context.Context, until time.Time) error
	// Wake ends a call of Wait, or the next one if there is none.
	Wake()
	// Close releases what the waiter holds.
	Close() error
}

var errWoken = errors.New("woken before the moment")

// timerWaiter waits with the runtime's timers, which may be a millisecond late.
type timerWaiter struct{ woken chan struct{} }

func (w timerWaiter) Wait(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-w.woken:
		return errWoken
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w timerWaiter) Wake() {
	select {
	case w.woken <- struct{}{}:
	default: // it is to be woken already
	}
}

func (timerWaiter) Close() error { return nil }

// NewTimerWaiter returns a waiter on the runtime's own timers.
func NewTimerWaiter() Waiter { return newTimerWaiter() }

func newTimerWaiter() timerWaiter { return timerWaiter{make(chan struct{}, 1)} }
