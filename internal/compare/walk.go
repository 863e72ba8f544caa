// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// walk goes through two documents side by side.
type walk struct {
	c        *Comparer
	old, new *document
	xml      bool // one element and a list of elements are alike
	inner    bool // within a string of another document
}

// value compares the values at i and j, which stand at c.path.
func (w *walk) value(i, j uint32, ignore, unordered *jsonpath.Set) {
	a, b := &w.old.nodes[i], &w.new.nodes[j]
	x, y := w.old.value(a), w.new.value(b)
	if bytes.Equal(x, y) && a.token == b.token {
		return
	}
	if ignore.Here() {
		if w.hash(w.old, i, nil, nil) != w.hash(w.new, j, nil, nil) {
			w.c.result.Ignored++
		}
		return
	}
	switch {
	case a.token == array && b.token == array, w.xml && (a.token == array || b.token == array):
		w.array(i, j, ignore, unordered)
	case a.token != b.token:
		w.c.differ(Type, x, y)
	case a.token == object:
		w.object(i, j, ignore, unordered)
	case a.token == number:
		if !w.c.equalNumber(x, y) {
			w.c.differ(Changed, x, y)
		}
	case a.token == text:
		if !w.c.equalText(x[1:len(x)-1], a.escaped, y[1:len(y)-1], b.escaped) && !w.within(a, b, ignore, unordered) {
			w.c.differ(Changed, x, y)
		}
	default:
		w.c.differ(Changed, x, y)
	}
}

// within compares two strings that hold JSON by what they hold, and reports
// whether they do.
func (w *walk) within(a, b *node, ignore, unordered *jsonpath.Set) bool {
	c := w.c
	if w.inner || w.xml || !holdsJSON(w.old.text[a.start:a.end]) || !holdsJSON(w.new.text[b.start:b.end]) {
		return false
	}
	// What is noted of an earlier string still points into these buffers.
	from, to := len(c.oldText), len(c.newText)
	c.oldText = appendUnescaped(c.oldText, w.old.text[a.start:a.end])
	c.newText = appendUnescaped(c.newText, w.new.text[b.start:b.end])
	if c.oldInner.parse(c.oldText[from:]) != nil || c.newInner.parse(c.newText[to:]) != nil {
		return false
	}
	inside := walk{c: c, old: &c.oldInner, new: &c.newInner, inner: true}
	inside.value(0, 0, ignore, unordered)
	return true
}

func holdsJSON(s []byte) bool {
	s = bytes.TrimSpace(s)
	return len(s) > 1 && (s[0] == '{' || s[0] == '[')
}

// member returns the place and the rules of the member at i of an object, and
// sets c.path to it. Names that are identifiers, or as long as only values are,
// are one field, and so is all that lies far down.
func (w *walk) member(d *document, i uint32, ignore, unordered *jsonpath.Set) (*jsonpath.Set, *jsonpath.Set) {
	key := w.key(d, &d.nodes[i])
	switch {
	case len(w.c.path) > maxPlace:
	case endpoint.IsIdentifier(key) || len(key) > maxName:
		w.c.path = append(w.c.path, "[*]"...)
	default:
		w.c.path = jsonpath.AppendName(w.c.path, key)
	}
	if ignore == nil && unordered == nil {
		return nil, nil
	}
	return ignore.Child(key), unordered.Child(key)
}

// key returns the name of a member. It is valid until the next call.
func (w *walk) key(d *document, n *node) []byte {
	key := d.text[n.key:n.keyEnd]
	if n.keyEscaped {
		w.c.left = appendUnescaped(w.c.left[:0], key)
		return w.c.left
	}
	return key
}

func (w *walk) object(i, j uint32, ignore, unordered *jsonpath.Set) {
	a, b := w.old.nodes, w.new.nodes
	here, index := len(w.c.path), len(w.c.index)
	indexed, matched := false, 0
	end := b[j].next
	y := j + 1
	for x := i + 1; x < a[i].next; x = a[x].next {
		k := y
		if y >= end || b[y].seen || !w.sameKey(&a[x], &b[y]) {
			if !indexed {
				indexed = true
				w.indexMembers(j)
			}
			k = w.find(w.c.index[index:], &a[x])
		}
		below, loose := w.member(w.old, x, ignore, unordered)
		if k == none {
			w.alone(w.old, x, below, Missing)
		} else {
			b[k].seen = true
			matched++
			w.value(x, k, below, loose)
			y = b[k].next
		}
		w.c.path = w.c.path[:here]
	}
	for y := j + 1; y < end; y = b[y].next {
		if !b[y].seen {
			below, _ := w.member(w.new, y, ignore, unordered)
			w.alone(w.new, y, below, Added)
			w.c.path = w.c.path[:here]
		}
	}
	w.c.index = w.c.index[:index]
}

// none is no node: a document's first is nobody's member.
const none = 0

// alone notes a value that only one side has.
func (w *walk) alone(d *document, i uint32, ignore *jsonpath.Set, kind Kind) {
	v := d.value(&d.nodes[i])
	switch {
	case ignore.Here():
		w.c.result.Ignored++
	case kind == Missing:
		w.c.differ(kind, v, nil)
	default:
		w.c.differ(kind, nil, v)
	}
}

func (w *walk) sameKey(a, b *node) bool {
	return w.c.equalText(w.old.text[a.key:a.keyEnd], a.keyEscaped, w.new.text[b.key:b.keyEnd], b.keyEscaped)
}

// indexMembers appends the members of the new object at j to c.index, by name.
func (w *walk) indexMembers(j uint32) {
	from := len(w.c.index)
	nodes := w.new.nodes
	for y := j + 1; y < nodes[j].next; y = nodes[y].next {
		w.c.index = append(w.c.index, entry{xxhash.Sum64(w.key(w.new, &nodes[y])), int32(y)})
	}
	sortEntries(w.c.index[from:])
}

// find returns the new member of the name of an old one, or none.
func (w *walk) find(index []entry, n *node) uint32 {
	hash := xxhash.Sum64(w.key(w.old, n))
	for i := searchEntries(index, hash); i < len(index) && index[i].hash == hash; i++ {
		if k := uint32(index[i].at); !w.new.nodes[k].seen {
			return k
		}
	}
	return none
}

// hash returns a hash of what the value at i means, without what is ignored.
func (w *walk) hash(d *document, i uint32, ignore, unordered *jsonpath.Set) uint64 {
	n := &d.nodes[i]
	if n.hash != 0 {
		return n.hash
	}
	h := uint64(n.token) + 1
	switch n.token {
	case null, boolean:
		h = mix(h, xxhash.Sum64(d.value(n)))
	case number:
		v := decimalOf(w.c.left[:0], d.value(n))
		w.c.left = v.digits
		h = mix(mix(h, xxhash.Sum64(v.digits)), uint64(v.power))
		if v.negative {
			h = mix(h, 1)
		}
	case text:
		s := d.text[n.start:n.end]
		if n.escaped {
			w.c.left = appendUnescaped(w.c.left[:0], s)
			s = w.c.left
		}
		h = mix(h, xxhash.Sum64(s))
	case array:
		loose, below, looser := unordered.Here(), ignore.Element(), unordered.Element()
		for k := i + 1; k < n.next; k = d.nodes[k].next {
			switch e := w.hash(d, k, below, looser); {
			case below.Here():
			case loose:
				h += mix(e, 7)
			default:
				h = mix(h, e)
			}
		}
	case object:
		for k := i + 1; k < n.next; k = d.nodes[k].next {
			key := w.key(d, &d.nodes[k])
			name, below, looser := xxhash.Sum64(key), ignore.Child(key), unordered.Child(key)
			if !below.Here() {
				h += mix(name, w.hash(d, k, below, looser))
			}
		}
	}
	n.hash = max(h, 1)
	return n.hash
}

func mix(a, b uint64) uint64 {
	a = (a ^ b*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return a ^ a>>32
}

// Members reads the scalar members of JSON objects, and calls found with the
// path and the value, without quotes, of each; at most limit of them, and not
// those in arrays. The Comparer's result is no longer valid then.
func (c *Comparer) Members(body []byte, limit int, found func(path, value []byte)) {
	if len(body) == 0 || body[0] != '{' || c.oldDoc.parse(body) != nil {
		return
	}
	c.at("$")
	w := walk{c: c, old: &c.oldDoc}
	w.members(0, &limit, found)
}

func (w *walk) members(i uint32, limit *int, found func(path, value []byte)) {
	nodes, here := w.old.nodes, len(w.c.path)
	for k := i + 1; k < nodes[i].next && *limit > 0; k = nodes[k].next {
		w.c.path = jsonpath.AppendName(w.c.path, w.key(w.old, &nodes[k]))
		switch n := &nodes[k]; n.token {
		case object:
			w.members(k, limit, found)
		case array: // its elements have no names of their own
		case null, boolean, number, text:
			*limit--
			found(w.c.path, w.old.text[n.start:n.end])
		}
		w.c.path = w.c.path[:here]
	}
}
