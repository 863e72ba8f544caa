// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"sync"
)

// shownSkips is how many of the lines that cannot be read are told each.
const shownSkips = 3

// Skips counts what could not be read. It is safe for concurrent use.
type Skips struct {
	mu    sync.Mutex
	total int64
	fresh []error // of the first ones, those that New has not returned
}

// add counts something that cannot be read, at a place such as line 7.
func (s *Skips) add(place string, number int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	if s.total <= shownSkips {
		s.fresh = append(s.fresh, fmt.Errorf("%s %d is left out: %w", place, number, err))
	}
}

// New returns those of the first few errors that it has not returned before.
func (s *Skips) New() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.fresh
	s.fresh = nil
	return fresh
}

// Total returns how many could not be read.
func (s *Skips) Total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Summary returns what to say at the end, nil if all that could not be read has
// been told.
func (s *Skips) Summary() error {
	if total := s.Total(); total > shownSkips {
		return fmt.Errorf("%d are left out in all", total)
	}
	return nil
}
