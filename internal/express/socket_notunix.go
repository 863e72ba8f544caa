// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package express

// fillWhenReady reads the first bytes of a request.
func (c *conn) fillWhenReady() error {
	c.acquire()
	return c.fill()
}

// fillNow is for systems where one can wait without a buffer.
func (c *conn) fillNow(uintptr) bool { return true }
