// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import "github.com/caddy-rehearsal/rehearsal/internal/jsonpath"

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
