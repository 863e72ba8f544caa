// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package express

import "github.com/caddy-rehearsal/rehearsal/internal/memfile"

// transfer is nothing where there is no file in memory.
type transfer struct{}

func (c *conn) sendFile(memfile.Extent, int) {}

func (c *conn) transferNow(uintptr) bool { return true }
