// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package http1

import "syscall"

// hasInput reports false: this platform offers no look into a socket, so that
// one that has ended shows only when it is used.
func hasInput(syscall.RawConn) bool { return false }
