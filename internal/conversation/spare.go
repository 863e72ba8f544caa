// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

// maxSpare is how many pieces of memory of a kind are kept to be used again.
const maxSpare = 1024

// spare is memory of answers and values that are no longer kept: each answer needs
// as much again.
type spare struct {
	ofValues      [][]uint64
	ofProductions [][]production
}

// values returns memory for the values of a place, nil if there is none.
func (s *spare) values() []uint64 { return take(&s.ofValues) }

func (s *spare) giveValues(values []uint64) {
	if cap(values) > 0 && len(s.ofValues) < maxSpare {
		s.ofValues = append(s.ofValues, values[:0])
	}
}

// productions returns memory for what an answer has made, nil if there is none.
func (s *spare) productions() []production { return take(&s.ofProductions) }

func (s *spare) giveProductions(made []production) {
	if cap(made) > 0 && len(s.ofProductions) < maxSpare {
		clear(made) // what they had is kept elsewhere, or given
		s.ofProductions = append(s.ofProductions, made[:0])
	}
}

func take[T any](all *[][]T) []T {
	last := len(*all) - 1
	if last < 0 {
		return nil
	}
	one := (*all)[last]
	(*all)[last] = nil
	*all = (*all)[:last]
	return one
}
