// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// parseLike reads a JSON text that may have most of its bytes in common with a
// document that was read: only the value is parsed in which they differ. What it
// comes to is the same as that of parse.
func (d *document) parseLike(source []byte, other *document) error {
	if d.adopt(source, other) {
		return nil
	}
	return d.parse(source)
}

// model is a document that was read earlier, kept for those like it: responses
// of one endpoint often differ in little.
type model struct {
	document
	source []byte
}

// parse reads a JSON text into d, as far as it can by what it has in common with
// the model. One that is unlike it becomes the model.
func (m *model) parse(d *document, source []byte) error {
	switch {
	case len(m.nodes) == 0:
	case bytes.Equal(source, m.text):
		d.text, d.nodes = source, append(d.nodes[:0], m.nodes...)
		return nil
	case d.adopt(source, &m.document):
		return nil
	}
	err := d.parse(source)
	if err == nil && len(source) <= maxModel {
		m.source = append(m.source[:0], source...)
		m.text, m.nodes = m.source, append(m.nodes[:0], d.nodes...)
	}
	return err
}

// maxModel is how large a text is kept as a model, in bytes.
const maxModel = 64 << 10

// adopt takes over the nodes of another document, but for the innermost value
// in which the texts differ. It reports whether that was all: what is around a
// value is valid whatever the value is.
func (d *document) adopt(source []byte, other *document) bool {
	if uint64(len(source)) > 1<<31 {
		return false
	}
	from := commonPrefix(other.text, source)
	to := len(other.text) - commonSuffix(other.text[from:], source[from:])
	at, depth := other.innermost(from, to)
	if at == 0 {
		return false
	}
	value := &other.nodes[at]
	begin, end := value.bounds()
	moved := uint32(len(source) - len(other.text)) // modulo 2³², as what is added to it
	p := scanner{s: source[:end+moved], i: int(begin), nodes: append(d.nodes[:0], other.nodes[:at]...)}
	if err := p.value(value.key, value.keyEnd, value.keyEscaped, depth); err != nil || p.i != len(p.s) {
		return false
	}
	behind := len(p.nodes)
	d.text, d.nodes = source, append(p.nodes, other.nodes[value.next:]...)
	if len(d.nodes) > maxNodes {
		return false
	}
	shift := uint32(behind) - value.next
	if moved == 0 && shift == 0 {
		return true
	}
	for i := range d.nodes[:at] {
		if n := &d.nodes[i]; n.next > at { // the value is inside
			n.end += moved
			n.next += shift
		}
	}
	for i := range d.nodes[behind:] {
		n := &d.nodes[behind+i]
		n.start, n.end, n.next = n.start+moved, n.end+moved, n.next+shift
		if n.keyEnd > 0 {
			n.key, n.keyEnd = n.key+moved, n.keyEnd+moved
		}
	}
	return true
}

// bounds returns where a value begins and ends in the text.
func (n *node) bounds() (start, end uint32) {
	if n.token == text {
		return n.start - 1, n.end + 1
	}
	return n.start, n.end
}

// innermost returns the innermost value that has a part of the text in it, and
// how deep it is; the document itself, 0, if no other has.
func (d *document) innermost(from, to int) (at uint32, depth int) {
	for inside := true; inside; {
		inside = false
		for k := at + 1; k < d.nodes[at].next; k = d.nodes[k].next {
			start, end := d.nodes[k].bounds()
			if int(start) > from {
				break
			}
			if int(end) >= to {
				at, depth, inside = k, depth+1, true
				break
			}
		}
	}
	return at, depth
}

// block is what bytes.Equal compares faster than a loop does.
const block = 128

// commonPrefix returns how many bytes two texts begin with in common.
func commonPrefix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix returns how many bytes two texts end with in common.
func commonSuffix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+block <= n && bytes.Equal(a[len(a)-i-block:len(a)-i], b[len(b)-i-block:len(b)-i]) {
		i += block
	}
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[len(a)-i-8:]) ^ binary.LittleEndian.Uint64(b[len(b)-i-8:]); x != 0 {
			return i + bits.LeadingZeros64(x)/8
		}
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
