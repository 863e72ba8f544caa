// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"time"
)

// Waiter waits for moments. It is for one goroutine at a time.
type Waiter interface {
	// Wait returns at the given moment, or before it with the context's
	// error when that ends.
	Wait(ctx context.Context, until time.Time) error
	// Close releases what the waiter holds.
	Close() error
}

// timerWaiter waits with the runtime's timers, which may be a millisecond late.
type timerWaiter struct{}

func (timerWaiter) Wait(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (timerWaiter) Close() error { return nil }

// NewTimerWaiter returns a waiter on the runtime's own timers.
func NewTimerWaiter() Waiter { return timerWaiter{} }
