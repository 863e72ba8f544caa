// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

// hashes is a set of hashes. They are spread evenly already, so that it is a
// table in which each has its place by its last bits, or the next free one.
type hashes struct {
	table []uint64 // 0 is free; its length is a power of two
	count int
}

const fewHashes = 8

// add adds a hash, and reports whether it is new. 0 counts as 1.
func (h *hashes) add(hash uint64) bool {
	if 4*h.count >= 3*len(h.table) {
		h.grow()
	}
	if !put(h.table, max(hash, 1)) {
		return false
	}
	h.count++
	return true
}

// has reports whether a hash was added.
func (h *hashes) has(hash uint64) bool {
	if h.count == 0 {
		return false
	}
	hash = max(hash, 1)
	for at := int(hash) & (len(h.table) - 1); ; at = (at + 1) & (len(h.table) - 1) { //nolint:gosec // its last bits
		switch h.table[at] {
		case hash:
			return true
		case 0:
			return false
		}
	}
}

func (h *hashes) grow() {
	old := h.table
	h.table = make([]uint64, max(2*len(old), fewHashes))
	for _, hash := range old {
		if hash != 0 {
			put(h.table, hash)
		}
	}
}

// put puts a hash into a table that has room, and reports whether it was not
// there.
func put(table []uint64, hash uint64) bool {
	for at := int(hash) & (len(table) - 1); ; at = (at + 1) & (len(table) - 1) { //nolint:gosec // its last bits
		switch table[at] {
		case hash:
			return false
		case 0:
			table[at] = hash
			return true
		}
	}
}

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
