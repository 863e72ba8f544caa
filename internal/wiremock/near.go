// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"cmp"
	"slices"
)

// mostNear and mostNeighbours bound what an unmatched request costs, however
// many mappings there are.
const (
	mostNear       = 64 // whose URL may match
	mostNeighbours = 16 // before and as many after the place of a URL in their order
)

// near chooses, in their order, the mappings that may be the closest: those
// whose URL may match, and those whose URL begins like the request's.
func (s *Set) near(r *Request) []int {
	chosen := make([]int, 0, mostNear+2*mostNeighbours)
	for _, list := range s.candidates(r, nil) {
		chosen = append(chosen, list[:min(len(list), mostNear-len(chosen))]...)
	}
	place, _ := slices.BinarySearchFunc(s.byURL, r.url, func(rank int, url string) int {
		return cmp.Compare(s.mappings[rank].url.text, url)
	})
	first, end := max(place-mostNeighbours, 0), min(place+mostNeighbours, len(s.byURL))
	chosen = append(chosen, s.byURL[first:end]...)
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// sortedByURL gives the places of mappings in the order of their URLs: next to
// a text in it are those with which it shares the longest beginning.
func sortedByURL(mappings []*Mapping) []int {
	order := make([]int, len(mappings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(mappings[a].url.text, mappings[b].url.text)
	})
	return order
}
