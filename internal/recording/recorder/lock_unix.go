// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package recorder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock marks a file as being written until it is closed.
func tryLock(file *os.File) lockState {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return locked
	case errors.Is(err, unix.EWOULDBLOCK):
		return lockedByOther
	}
	return lockUnknown
}
