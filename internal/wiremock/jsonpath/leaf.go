// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"slices"

	"github.com/ohler55/ojg/jp"
)

// leaf is a name at the end of a path that may lead to many places: null for an
// object that has no such member.
type leaf struct{ jp.Child }

// WithNulls gives the path as WireMock's templates follow it: what `$..name` or
// `$.list[*].name` leads to has a null for every object without a name.
func (p *Path) WithNulls() *Path {
	last := len(p.steps) - 1
	if p.single || last < 0 {
		return p
	}
	name, ok := p.steps[last].(jp.Child)
	if !ok {
		return p
	}
	filled := *p
	filled.steps = slices.Clone(p.steps)
	filled.steps[last] = leaf{name}
	return &filled
}
