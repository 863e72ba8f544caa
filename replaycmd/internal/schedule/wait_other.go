// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package schedule

// NewWaiter returns the most exact waiter of the platform.
func NewWaiter() Waiter { return NewTimerWaiter() }
