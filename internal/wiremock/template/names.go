// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import "slices"

// names are those that a template uses without request, parameters or a block
// having them: variables that it assigns, or nothing.
type names struct {
	assigned map[string]bool
	used     []string
	ignored  []string // what helpers do not look at
}

// unknown returns the names that are used and never assigned.
func (n *names) unknown() (list []string) {
	for _, name := range n.used {
		if !n.assigned[name] && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// named compiles a name that is looked for in the blocks around, from the inside
// outwards, and then among the variables.
func (p *parser) named(keys []string) evaluator {
	if p.loops == 0 {
		p.names.used = append(p.names.used, keys[0])
	}
	return func(s *scope) any {
		for at := s; at != nil && s.budget.Spend(1); at = at.outer {
			if at.this == nil {
				continue
			}
			if value := lookup(at.this, keys[:1]); value != nil {
				return lookup(value, keys[1:])
			}
		}
		return lookup(s.variables[keys[0]], keys[1:])
	}
}

// variable compiles the name of a variable that a helper assigns to; empty where
// it is not given.
func (c *call) variable(o operand) (func(s *scope) string, error) {
	if name, ok := o.literal.(string); ok {
		c.names.assigned[name] = true
		return func(*scope) string { return name }, nil
	}
	c.names.assigned[""] = true // any
	return func(s *scope) string { return toText(o.value(s), s.budget) }, nil
}
