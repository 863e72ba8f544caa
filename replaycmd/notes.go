// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// notes tells the user about what goes on beside the results.
type notes struct {
	w       io.Writer
	quiet   bool
	problem func(error) // called for every part of a recording that can't be read

	mu       sync.Mutex
	problems []string
}

// note tells one thing. An UnreadableError is kept for the report
// and told even to those who want it quiet.
func (n *notes) note(err error) {
	_, isProblem := errors.AsType[*source.UnreadableError](err)
	if isProblem {
		n.mu.Lock()
		n.problems = append(n.problems, err.Error())
		n.mu.Unlock()
	}
	if isProblem || !n.quiet {
		fmt.Fprintln(n.w, "Warning:", err)
	}
	if isProblem && n.problem != nil {
		n.problem(err)
	}
}

// lost gives what could not be read.
func (n *notes) lost() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.problems
}
