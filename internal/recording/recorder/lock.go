// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

// lockState is what came of trying to lock a file.
type lockState int

const (
	locked lockState = iota

	// lockedByOther: another recorder, of this process or any other, writes the file.
	lockedByOther

	// lockUnknown: the system or the file system has no locks.
	lockUnknown
)
