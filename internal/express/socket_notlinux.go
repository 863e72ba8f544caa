// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package express

import "github.com/caddy-rehearsal/rehearsal/internal/memfile"

// looks reports that it takes reading to see that a client has left.
func (c *conn) looks() bool { return false }

func (c *conn) look() error { return nil }

// transfer is nothing where there is no file in memory.
type transfer struct{}

func (c *conn) sendFile(memfile.Extent, int) {}

func (c *conn) transferNow(uintptr) bool { return true }
