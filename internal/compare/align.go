// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import "slices"

// pair is two elements that belong together; one of them is -1 where the other
// side has none.
type pair struct {
	a, b int32
	near int32 // where in a an element of b alone would stand
}

// entry is a hash and where it is from.
type entry struct {
	hash uint64
	at   int32
}

// aligner puts the elements of two lists side by side, by their hashes in a
// and b. Its work is at most proportional to their lengths, but for the
// logarithm of it, and maxTable.
type aligner struct {
	a, b  []uint64
	pairs []pair // in the order of a, those of b alone between
	moved bool   // elements are the same, but elsewhere

	match   []int32 // of each a, in b
	taken   []bool  // of each b
	table   []uint16
	entries []entry
	others  []entry
	tails   []int32
	before  []int32
}

// maxTable bounds the cells in which the longest common subsequence is found
// exactly.
const maxTable = 1 << 16

func (g *aligner) reset() {
	if cap(g.match) > keptSize/16 {
		*g = aligner{}
	}
}

// align fills pairs. What is equal stays in order as far as possible; equal
// elements elsewhere have moved, and what is left between is paired in turn.
// Where the lists are unordered, equal elements are paired wherever they are.
func (g *aligner) align(unordered bool) {
	g.begin()
	if !unordered {
		g.inOrder()
	}
	g.elsewhere(unordered)
	g.fill()
}

func (g *aligner) begin() {
	g.moved = false
	g.pairs = g.pairs[:0]
	g.match, g.taken = g.match[:0], g.taken[:0]
	for range g.a {
		g.match = append(g.match, -1)
	}
	for range g.b {
		g.taken = append(g.taken, false)
	}
}

func (g *aligner) pair(a, b int) {
	g.match[a] = int32(b)
	g.taken[b] = true
}

// inOrder pairs a common subsequence: the longest, where the lists are short.
func (g *aligner) inOrder() {
	from, n, m := 0, len(g.a), len(g.b)
	for from < n && from < m && g.a[from] == g.b[from] {
		g.pair(from, from)
		from++
	}
	for n > from && m > from && g.a[n-1] == g.b[m-1] {
		n--
		m--
		g.pair(n, m)
	}
	switch {
	case n == from || m == from:
	case (n-from+1)*(m-from+1) <= maxTable:
		g.longest(from, n, m)
	default:
		g.increasing(from, n, m)
	}
}

// longest finds the longest common subsequence of a[from:n] and b[from:m].
func (g *aligner) longest(from, n, m int) {
	width := m - from + 1
	g.table = append(g.table[:0], make([]uint16, (n-from+1)*width)...)
	for i := n - 1; i >= from; i-- {
		row := g.table[(i-from)*width:]
		below := g.table[(i-from+1)*width:]
		for j := m - 1; j >= from; j-- {
			if g.a[i] == g.b[j] {
				row[j-from] = below[j-from+1] + 1
			} else {
				row[j-from] = max(below[j-from], row[j-from+1])
			}
		}
	}
	for i, j := from, from; i < n && j < m; {
		at := (i-from)*width + j - from
		switch {
		case g.a[i] == g.b[j]:
			g.pair(i, j)
			i++
			j++
		case g.table[at+width] >= g.table[at+1]:
			i++
		default:
			j++
		}
	}
}

// increasing pairs the k-th of equal elements in a with the k-th in b, and of
// these the longest run that is in order: the longest common subsequence where
// no element is there twice.
func (g *aligner) increasing(from, n, m int) {
	g.sortFree(from, n, m)
	partner := g.before[:0]
	for range n - from {
		partner = append(partner, -1)
	}
	eachEqual(g.entries, g.others, func(a, b int32) { partner[int(a)-from] = b })
	// tails[k] is the end of the run of length k+1 that ends lowest.
	g.tails = g.tails[:0]
	previous := make([]int32, n-from)
	for i, b := range partner {
		if b < 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(g.tails, b, func(t, b int32) int { return int(partner[t]) - int(b) })
		previous[i] = -1
		if k > 0 {
			previous[i] = g.tails[k-1]
		}
		if k == len(g.tails) {
			g.tails = append(g.tails, int32(i))
		} else {
			g.tails[k] = int32(i)
		}
	}
	if len(g.tails) > 0 {
		for i := g.tails[len(g.tails)-1]; i >= 0; i = previous[i] {
			g.pair(from+int(i), int(partner[i]))
		}
	}
	g.before = partner
}

// sortFree fills entries and others with what has no partner yet, by hash.
func (g *aligner) sortFree(from, n, m int) {
	g.entries, g.others = g.entries[:0], g.others[:0]
	for i := from; i < n; i++ {
		if g.match[i] < 0 {
			g.entries = append(g.entries, entry{g.a[i], int32(i)})
		}
	}
	for j := from; j < m; j++ {
		if !g.taken[j] {
			g.others = append(g.others, entry{g.b[j], int32(j)})
		}
	}
	slices.SortFunc(g.entries, compareEntries)
	slices.SortFunc(g.others, compareEntries)
}

func compareEntries(a, b entry) int {
	switch {
	case a.hash < b.hash:
		return -1
	case a.hash > b.hash:
		return 1
	}
	return int(a.at - b.at)
}

// eachEqual calls f for pairs of one hash in two sorted lists, each element
// once.
func eachEqual(a, b []entry, f func(a, b int32)) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].hash < b[0].hash:
			a = a[1:]
		case a[0].hash > b[0].hash:
			b = b[1:]
		default:
			f(a[0].at, b[0].at)
			a, b = a[1:], b[1:]
		}
	}
}

// elsewhere pairs equal elements that are not in order.
func (g *aligner) elsewhere(unordered bool) {
	g.sortFree(0, len(g.a), len(g.b))
	eachEqual(g.entries, g.others, func(a, b int32) {
		g.pair(int(a), int(b))
		g.moved = g.moved || !unordered
	})
}

// fill writes the pairs down, and pairs what is left between two others in
// turn.
func (g *aligner) fill() {
	// bounds has for each of a the partner of the next that has one: what stands
	// before that in b is in the same gap.
	bounds := g.before[:0]
	bounds = append(bounds, make([]int32, len(g.a))...)
	bound := int32(len(g.b))
	for i := len(g.a) - 1; i >= 0; i-- {
		bounds[i] = bound
		if g.match[i] >= 0 {
			bound = g.match[i]
		}
	}
	g.before = bounds
	next := 0 // in b
	free := func() int {
		for next < len(g.b) && g.taken[next] {
			next++
		}
		return next
	}
	for i := range g.a {
		if j := g.match[i]; j >= 0 {
			// What b alone has before j stands here, unless j has moved back.
			if int(j) >= next {
				for f := free(); f < int(j); f = free() {
					g.alone(f, i)
				}
			}
			g.pairs = append(g.pairs, pair{int32(i), j, 0})
			continue
		}
		if f := free(); f < int(bounds[i]) {
			g.taken[f] = true
			g.pairs = append(g.pairs, pair{int32(i), int32(f), 0})
			continue
		}
		g.pairs = append(g.pairs, pair{int32(i), -1, 0})
	}
	for f := free(); f < len(g.b); f = free() {
		g.alone(f, len(g.a))
	}
}

func (g *aligner) alone(j, near int) {
	g.taken[j] = true
	g.pairs = append(g.pairs, pair{-1, int32(j), int32(near)})
}
