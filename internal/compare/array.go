// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"slices"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// array compares two arrays, or in XML an array and a single element.
func (w *walk) array(i, j uint32, ignore, unordered *jsonpath.Set) {
	c := w.c
	from, here := len(c.list), len(c.path)
	c.list = appendElements(c.list, w.old, i)
	middle := len(c.list)
	c.list = appendElements(c.list, w.new, j)
	old, new := c.list[from:middle:middle], c.list[middle:len(c.list):len(c.list)]

	loose, below, looser := unordered.Here(), ignore, unordered
	if !w.xml {
		below, looser = ignore.Element(), unordered.Element()
	}
	moved := w.alignElements(old, new, below, looser, loose)
	if moved {
		c.differ(Order, w.old.value(&w.old.nodes[i]), w.new.value(&w.new.nodes[j]))
	}
	// The aligner is needed again for arrays within.
	first := len(c.list)
	for _, p := range c.aligner.pairs {
		c.list = append(c.list, uint32(p.a), uint32(p.b))
	}
	pairs := c.list[first:len(c.list):len(c.list)]
	if !w.xml {
		c.path = append(c.path, "[*]"...)
	}
	for ; len(pairs) > 0; pairs = pairs[2:] {
		switch a, b := int32(pairs[0]), int32(pairs[1]); {
		case a < 0:
			w.alone(w.new, new[b], below, Added)
		case b < 0:
			w.alone(w.old, old[a], below, Missing)
		default:
			w.value(old[a], new[b], below, looser)
		}
	}
	c.path = c.path[:here]
	c.list = c.list[:from]
}

// appendElements appends the places of the elements of an array; anything else
// is its own only element.
func appendElements(dst []uint32, d *document, i uint32) []uint32 {
	if d.nodes[i].token != array {
		return append(dst, i)
	}
	for k := i + 1; k < d.nodes[i].next; k = d.nodes[k].next {
		dst = append(dst, k)
	}
	return dst
}

// alignElements fills the aligner's pairs and reports whether elements are in
// another order.
func (w *walk) alignElements(old, new []uint32, ignore, unordered *jsonpath.Set, loose bool) (moved bool) {
	g := &w.c.aligner
	if w.byKey(old, new, ignore) {
		return g.moved && !loose
	}
	g.a, g.b = g.a[:0], g.b[:0]
	for _, k := range old {
		g.a = append(g.a, w.hash(w.old, k, ignore, unordered))
	}
	for _, k := range new {
		g.b = append(g.b, w.hash(w.new, k, ignore, unordered))
	}
	g.align(loose)
	return g.moved
}

// keys are the members that most often name an element.
var keys = [][]byte{[]byte("id"), []byte("key"), []byte("name"), []byte("uuid")}

// maxCandidates bounds how many other members are tried as keys.
const maxCandidates = 8

// byKey aligns objects by the first scalar member that is unique on both
// sides, and reports whether there is one. A key has to find partners: one of
// the usual names a single one, any other for half of the shorter list.
func (w *walk) byKey(old, new []uint32, ignore *jsonpath.Set) bool {
	if len(old) == 0 || len(new) == 0 || w.old.nodes[old[0]].token != object || w.new.nodes[new[0]].token != object {
		return false
	}
	for _, name := range keys {
		if w.alignBy(name, old, new, 1) {
			return true
		}
	}
	tried := 0
	nodes := w.old.nodes
	for k := old[0] + 1; k < nodes[old[0]].next && tried < maxCandidates; k = nodes[k].next {
		if nodes[k].token != number && nodes[k].token != text {
			continue
		}
		tried++
		w.c.name = append(w.c.name[:0], w.key(w.old, &nodes[k])...)
		if !ignore.Child(w.c.name).Here() && w.alignBy(w.c.name, old, new, (min(len(old), len(new))+1)/2) {
			return true
		}
	}
	return false
}

// alignBy aligns by the member of a name, if every element has a scalar one,
// no two the same, and at least so many partners are found.
func (w *walk) alignBy(name []byte, old, new []uint32, atLeast int) bool {
	g := &w.c.aligner
	var ok bool
	if g.a, ok = w.keyHashes(g.a[:0], w.old, old, name); !ok {
		return false
	}
	if g.b, ok = w.keyHashes(g.b[:0], w.new, new, name); !ok {
		return false
	}
	g.begin()
	if slices.Equal(g.a, g.b) {
		g.sortFree(0, len(g.a), 0)
		if !unique(g.entries) {
			return false
		}
		for i := range g.a {
			g.pairs = append(g.pairs, pair{int32(i), int32(i), 0})
		}
		return true
	}
	g.sortFree(0, len(g.a), len(g.b))
	if !unique(g.entries) || !unique(g.others) {
		return false
	}
	matched := 0
	eachEqual(g.entries, g.others, func(a, b int32) {
		g.pair(int(a), int(b))
		matched++
	})
	if matched < atLeast {
		return false
	}
	last := int32(-1)
	for i, j := range g.match {
		g.pairs = append(g.pairs, pair{int32(i), j, 0})
		if j >= 0 {
			g.moved = g.moved || j < last
			last = j
		}
	}
	for j, taken := range g.taken {
		if !taken {
			g.pairs = append(g.pairs, pair{-1, int32(j), 0})
		}
	}
	return true
}

func unique(sorted []entry) bool {
	for i := 1; i < len(sorted); i++ {
		if sorted[i].hash == sorted[i-1].hash {
			return false
		}
	}
	return true
}

// keyHashes appends the hash of the member of a name of each object.
func (w *walk) keyHashes(dst []uint64, d *document, elements []uint32, name []byte) ([]uint64, bool) {
	for _, e := range elements {
		n := &d.nodes[e]
		if n.token != object {
			return dst, false
		}
		found := false
		for k := e + 1; k < n.next && !found; k = d.nodes[k].next {
			m := &d.nodes[k]
			if found = string(w.key(d, m)) == string(name); found {
				if m.token != number && m.token != text {
					return dst, false
				}
				dst = append(dst, w.hash(d, k, nil, nil))
			}
		}
		if !found {
			return dst, false
		}
	}
	return dst, true
}

func sortEntries(entries []entry) { slices.SortFunc(entries, compareEntries) }

// searchEntries returns where the first entry of a hash is, or would be.
func searchEntries(entries []entry, hash uint64) int {
	i, _ := slices.BinarySearchFunc(entries, hash, func(e entry, h uint64) int { return cmp.Compare(e.hash, h) })
	return i
}
