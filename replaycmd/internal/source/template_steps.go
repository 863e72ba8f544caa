// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"text/template"
	"text/template/parse"
)

// maxTemplateSteps is how many turns of loops and calls of templates one body may
// take: a loop that writes nothing would never end by the length of the body.
const maxTemplateSteps = 200_000

// stepFunction is the name of Template.step in templates.
const stepFunction = "_step"

// step counts a turn of a loop, or a call of a template.
func (t *Template) step() (string, error) {
	if t.steps++; t.steps > maxTemplateSteps {
		return "", fmt.Errorf("the body takes more than %d turns of loops", maxTemplateSteps)
	}
	return "", nil
}

// withSteps has each turn of a loop of a template, and each call of one that it
// defines, counted.
func withSteps(t *template.Template) (*template.Template, error) {
	for _, defined := range t.Templates() {
		if defined.Tree == nil || defined.Root == nil {
			continue
		}
		trees, err := parse.Parse("step", "{{"+stepFunction+"}}", "", "", map[string]any{stepFunction: true})
		if err != nil {
			return nil, err
		}
		step := trees["step"].Root.Nodes[0]
		countIn(defined.Root, step)
		begin(defined.Root, step)
	}
	return t, nil
}

// begin has a list begin with a step.
func begin(list *parse.ListNode, step parse.Node) {
	list.Nodes = append([]parse.Node{step}, list.Nodes...)
}

// countIn has the loops in a list begin their turns with a step.
func countIn(list *parse.ListNode, step parse.Node) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.RangeNode:
			countIn(n.List, step)
			countIn(n.ElseList, step)
			begin(n.List, step)
		case *parse.IfNode:
			countIn(n.List, step)
			countIn(n.ElseList, step)
		case *parse.WithNode:
			countIn(n.List, step)
			countIn(n.ElseList, step)
		}
	}
}
