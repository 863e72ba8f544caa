// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"runtime/debug"
)

// Guarded calls do and returns what it panicked with as an error that has the
// stack.
func Guarded(do func()) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	do()
	return nil
}
