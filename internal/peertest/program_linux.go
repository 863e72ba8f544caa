// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"os/exec"
	"syscall"
)

// killWithParent makes the system kill a program when the thread that starts it
// ends, as it does with a test that is killed itself.
func killWithParent(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
