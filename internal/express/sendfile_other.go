// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package express

const canShare = false

func copyToFile([]byte) int { return -1 }

func closeFile(int) {}

// transfer is nothing where there is no file in memory.
type transfer struct{}

func (c *conn) sendShared([]byte) bool { return false }

func (c *conn) transferNow(uintptr) bool { return true }
