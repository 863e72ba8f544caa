// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package peertest

import "os/exec"

// killWithParent does nothing: such a system has no signal for it.
func killWithParent(*exec.Cmd) {}
