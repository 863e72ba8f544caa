// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package express

import "time"

const watches = false

// sleepUntil waits. That a client has left shows when it is answered.
func (c *conn) sleepUntil(until time.Time) bool { return c.sleepByTimer(until) }
