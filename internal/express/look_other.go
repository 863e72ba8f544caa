// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package express

// looks reports that it takes reading to see that a client has left.
func (c *conn) looks() bool { return false }

func (c *conn) look() error { return nil }
