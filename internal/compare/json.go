// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import "errors"

const (
	maxDepth = 500     // levels of JSON that are followed
	maxNodes = 1 << 18 // values of one document that are looked at
	keptSize = 1 << 20 // larger buffers are not kept between comparisons

	firstNodes = 64 // that a document has room for
)

var (
	errNotJSON = errors.New("it is not JSON")
	errTooDeep = errors.New("it is nested too deep")
	errTooMany = errors.New("it has too many values")
)

// token is what a JSON value begins with.
type token byte

const (
	null token = iota
	boolean
	number
	text
	array
	object
)

// node is one value of a document. Values stand in the order of the text, so
// that what is in an array or object follows it up to next.
type node struct {
	start, end  uint32 // of the value; of text without its quotes
	key, keyEnd uint32 // of the member's name, without quotes
	next        uint32
	token       token
	escaped     bool // the text has a backslash
	keyEscaped  bool
	seen        bool   // scratch for matching members
	hash        uint64 // of the content, 0 until it is asked for
}

// document is a parsed JSON text.
type document struct {
	text  []byte
	nodes []node
}

func (d *document) value(n *node) []byte {
	if n.token == text {
		return d.text[n.start-1 : n.end+1]
	}
	return d.text[n.start:n.end]
}

// reset releases what only an unusually large document needed.
func (d *document) reset() {
	d.text = nil
	if cap(d.nodes) > keptSize/40 {
		d.nodes = nil
	}
}

// parse reads a JSON text. Its strings are not held to UTF-8, since services
// send others too, and compared byte by byte.
func (d *document) parse(source []byte) error {
	d.text, d.nodes = source, d.nodes[:0]
	if uint64(len(source)) > 1<<31 {
		return errTooMany
	}
	p := scanner{s: source, nodes: d.nodes}
	p.space()
	err := p.value(0, 0, false, 0)
	d.nodes = p.nodes
	if err != nil {
		return err
	}
	if p.space(); p.i != len(source) {
		return errNotJSON
	}
	return nil
}
