// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// branches are the two bodies of a block: the second comes after {{else}}.
type branches struct{ body, otherwise []node }

// block compiles a block; the parser stands behind its opening tag. The end is
// the name that its closing tag has to have.
func (p *parser) block(content, end string) (node, error) {
	if err := p.nested(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	content, local := cutLocal(content)
	words, err := split(content)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("the block has no name")
	}
	if end == "" {
		end = words[0]
	}
	switch name := words[0]; name {
	case "if", "unless", "each", "with":
		return p.plainBlock(words, local, end)
	case "contains", "matches":
		return p.conditionBlock(words, end)
	case "arrayJoin":
		return p.joinBlock(words)
	default:
		if _, ok := comparisons[name]; ok {
			return p.conditionBlock(words, end)
		}
		if takesBlock(name) {
			return p.textBlock(words)
		}
		if _, ok := helpers[name]; !ok && len(words) == 1 {
			return p.section(name, false)
		}
		return nil, &NoHelperError{"block", name}
	}
}

// takesBlock reports whether the text in a block can be the argument of a helper.
func takesBlock(name string) bool {
	return slices.Contains([]string{"trim", "base64", "urlEncode"}, name) || helpers[name].block
}

// cutLocal takes `as |name|` off the end of a block's opening tag.
func cutLocal(content string) (rest, local string) {
	before, after, found := strings.Cut(content, " as |")
	if !found {
		return content, ""
	}
	return before, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(after), "|"))
}

func (p *parser) plainBlock(words []string, local, end string) (node, error) {
	name := words[0]
	if len(words) != 2 {
		return nil, fmt.Errorf("%s takes one argument", name)
	}
	subject, err := p.operand(words[1])
	if err != nil {
		return nil, err
	}
	if name == "if" || name == "unless" {
		b, err := p.branches(end)
		if name == "unless" {
			b.body, b.otherwise = b.otherwise, b.body
		}
		return condition{subject.value, b}, err
	}
	locals := strings.Fields(local)
	if len(locals) > 2 {
		return nil, fmt.Errorf("a third name in |%s| is not supported", local)
	}
	b, err := p.inside(locals, end)
	locals = append(locals, "", "")
	if name == "with" {
		return with{subject.value, locals[0], b}, err
	}
	return loop{subject.value, locals[0], locals[1], b}, err
}

// inside reads the bodies of a block in which names mean something else.
func (p *parser) inside(locals []string, end string) (branches, error) {
	inner := *p
	inner.loops++
	if len(locals) > 0 {
		inner.locals = append(slices.Clone(p.locals), locals...)
	}
	b, err := inner.branches(end)
	p.rest, p.trimNext = inner.rest, inner.trimNext
	return b, err
}

// section compiles a block that is named by a value: it is rendered for each
// element of a list, within an object, or once for anything else that is there.
// An inverse one is rendered where there is nothing.
func (p *parser) section(word string, inverse bool) (node, error) {
	if err := p.nested(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	subject, err := p.operand(word)
	if err != nil {
		return nil, err
	}
	if inverse {
		b, err := p.branches(word)
		return condition{subject.value, branches{b.otherwise, b.body}}, err
	}
	b, err := p.inside(nil, word)
	return section{subject.value, b}, err
}

type section struct {
	value evaluator
	branches
}

func (c section) render(buffer []byte, s *scope) []byte {
	value := plain(c.value(s))
	if _, ok := elementsOf(value); ok {
		return loop{constant(value), "", "", c.branches}.render(buffer, s)
	}
	if !truthy(value) {
		return render(buffer, c.otherwise, s)
	}
	return render(buffer, c.body, s.within(value, ""))
}

// conditionBlock compiles a helper that decides which body is written.
func (p *parser) conditionBlock(words []string, end string) (node, error) {
	c, err := p.call(words)
	if err != nil {
		return nil, err
	}
	value, err := c.compile(helpers[words[0]])
	if err != nil {
		return nil, err
	}
	b, err := p.branches(end)
	return condition{value, b}, err
}

// textBlock compiles a helper whose argument is the text in the block.
func (p *parser) textBlock(words []string) (node, error) {
	name := words[0]
	c, err := p.call(words)
	if err != nil {
		return nil, err
	}
	h := helpers[name]
	if len(c.args) > 0 && !h.block {
		return nil, fmt.Errorf("as a block %s takes no argument", name)
	}
	b, err := p.branches(name)
	if err != nil {
		return nil, err
	}
	content := operand{text: "the block", value: func(s *scope) any { return string(render(nil, b.body, s)) }}
	if h.block {
		c.content = &content
	} else {
		c.args = []operand{content}
	}
	value, err := c.compile(h)
	return output{value}, err
}

// branches reads the bodies of a block up to its end. `{{else if x}}` is a
// block in the second body, and ends where this one does.
func (p *parser) branches(end string) (branches, error) {
	body, err := p.nodes(end)
	if err != nil {
		return branches{}, err
	}
	b := branches{body: body}
	if chained, ok := strings.CutPrefix(p.closing, "else "); ok {
		n, err := p.block(strings.TrimSpace(chained), end)
		b.otherwise = []node{n}
		return b, err
	}
	if p.closing == "else" || p.closing == "^" {
		if b.otherwise, err = p.nodes(end); err != nil {
			return branches{}, err
		}
	}
	if p.closing != "/"+end {
		return branches{}, fmt.Errorf("expected {{/%s}}, got {{%s}}", end, p.closing)
	}
	return b, nil
}

type condition struct {
	value evaluator
	branches
}

func (c condition) render(buffer []byte, s *scope) []byte {
	if truthy(c.value(s)) {
		return render(buffer, c.body, s)
	}
	return render(buffer, c.otherwise, s)
}

type with struct {
	value evaluator
	local string
	branches
}

func (w with) render(buffer []byte, s *scope) []byte {
	value := plain(w.value(s))
	if !truthy(value) {
		return render(buffer, w.otherwise, s)
	}
	return render(buffer, w.body, s.within(value, w.local))
}

// perElement is what a round of a loop costs by itself.
const perElement = 16

type loop struct {
	value         evaluator
	local, second string
	branches
}

func (l loop) render(buffer []byte, s *scope) []byte {
	inner := s.within(nil, l.local)
	inner.second = l.second
	element := func(key, value any, i, length int) bool {
		if !s.budget.Spend(perElement) {
			return false
		}
		inner.this, inner.key, inner.index, inner.first, inner.last = value, key, i, i == 0, i == length-1
		buffer = render(buffer, l.body, inner)
		return true
	}
	value := plain(l.value(s))
	if object, ok := value.(*eval.Object); ok {
		for i, m := range object.Members {
			if !element(m.Name, m.Value, i, len(object.Members)) {
				return buffer
			}
		}
		if len(object.Members) > 0 {
			return buffer
		}
	}
	list, _ := elementsOf(value)
	for i, value := range list {
		if !element(int64(i), value, i, len(list)) {
			return buffer
		}
	}
	if len(list) > 0 {
		return buffer
	}
	return render(buffer, l.otherwise, s)
}
