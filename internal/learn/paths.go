// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
)

// pattern is a method and a path in which a star is one whole segment.
type pattern shape

// matches reports whether a path, or a shape, is of the pattern.
func (p pattern) matches(path string) bool {
	rest := p.path
	for {
		want, moreWanted, _ := cutSegment(rest)
		got, more, ok := cutSegment(path)
		if want != "*" && want != got || want == "*" && got == "" {
			return false
		}
		rest, path = moreWanted, more
		if rest == "" || !ok {
			return rest == "" && path == ""
		}
	}
}

func cutSegment(path string) (segment, rest string, more bool) {
	i := strings.IndexByte(path, '/')
	switch {
	case i < 0:
		return path, "", false
	case i == 0: // the slash that a segment begins with
		j := strings.IndexByte(path[1:], '/')
		if j < 0 {
			return path[1:], "", true
		}
		return path[1 : 1+j], path[1+j:], true
	}
	return path[:i], path[i:], true
}

// maxPath is the longest path that is looked at, in bytes.
const maxPath = 2 << 10

// shapeOf returns the path of a target, with a star for each segment that looks
// like one of many.
func shapeOf(target []byte) string {
	if i := bytes.Index(target, []byte("://")); i > 0 && target[0] != '/' {
		_, path, _ := bytes.Cut(target[i+3:], []byte{'/'})
		target = append([]byte{'/'}, path...)
	}
	if len(target) > maxPath {
		target = target[:maxPath]
	}
	if len(target) == 0 || target[0] != '/' {
		return "/" // as in OPTIONS *
	}
	return string(endpoint.AppendTemplate(nil, target))
}

// A segment is a parameter if its place has so many different values a request,
// and at least so many of them; or more than there are routes for.
const (
	manyValues  = 0.2
	fewestMany  = 5
	commonShare = 0.05 // a value that so many of the requests have is a word, not a parameter
	commonLeast = 10
)

// node is a segment in the tree of all paths.
type node struct {
	n        int64
	children map[string]*node
	merged   map[string]bool // the segments that became a star
}

func (n *node) insert(path []string, requests int64) {
	n.n += requests
	if len(path) == 0 {
		return
	}
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	child := n.children[path[0]]
	if child == nil {
		child = new(node)
		n.children[path[0]] = child
	}
	child.insert(path[1:], requests)
}

// generalize makes a star of segments that are one of many.
func (n *node) generalize() {
	var rare []string
	var requests int64
	for segment, child := range n.children {
		common := float64(child.n) >= commonShare*float64(n.n) && child.n >= commonLeast
		if segment == "*" || segment == "" || common {
			continue
		}
		rare = append(rare, segment)
		requests += child.n
	}
	if len(rare) > maxRoutes || len(rare) >= fewestMany && float64(len(rare)) >= manyValues*float64(requests) {
		star := n.children["*"]
		if star == nil {
			star = new(node)
		}
		n.merged = make(map[string]bool, len(rare))
		slices.Sort(rare)
		for _, segment := range rare {
			star.absorb(n.children[segment])
			delete(n.children, segment)
			n.merged[segment] = true
		}
		n.children["*"] = star
	}
	for _, segment := range slices.Sorted(maps.Keys(n.children)) {
		n.children[segment].generalize()
	}
}

func (n *node) absorb(other *node) {
	n.n += other.n
	for segment, child := range other.children {
		if n.children == nil {
			n.children = make(map[string]*node)
		}
		if own := n.children[segment]; own != nil {
			own.absorb(child)
		} else {
			n.children[segment] = child
		}
	}
}

// template returns a path with the stars that generalize has made.
func (n *node) template(path []string) []string {
	out := slices.Clone(path)
	for i, segment := range out {
		if n.merged[segment] {
			out[i] = "*"
		}
		n = n.children[out[i]]
	}
	return out
}
