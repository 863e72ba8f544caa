// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// parser cuts a template into nodes.
type parser struct {
	rest       string
	parameters *eval.Object
	locals     []string // names that the blocks around give to their elements
	names      *names
	length     int    // of the whole text
	first      int    // where its first tag begins
	last       int    // where its last tag ends
	loops      int    // blocks around that change what plain names mean
	trimNext   bool   // the last tag ended on ~
	closing    string // the tag that ended the nodes read last
	depth      int    // of blocks and parentheses around
}

// deepest bounds how blocks and parentheses may be nested.
const deepest = 200

func (p *parser) nested() error {
	if p.depth++; p.depth > deepest {
		return fmt.Errorf("blocks and parentheses are nested deeper than %d levels", deepest)
	}
	return nil
}

// nodes reads up to the end of a block, or of the template if block is empty.
func (p *parser) nodes(block string) ([]node, error) {
	var nodes []node
	for {
		start := strings.Index(p.rest, "{{")
		if start < 0 {
			if block != "" {
				return nil, fmt.Errorf("{{#%s}} is not closed", block)
			}
			return p.appendText(nodes, p.rest, false), nil
		}
		before := p.rest[:start]
		at := p.length - len(p.rest) + start
		if at > p.first && strings.HasSuffix(before, `\`) { // WireMock cuts before the first
			end := strings.Index(p.rest[start:], "}}")
			if end < 0 {
				end = len(p.rest) - start - 2
			}
			nodes = p.appendText(nodes, before[:len(before)-1]+p.rest[start:start+end+2], false)
			p.rest, p.trimNext = p.rest[start+end+2:], false
			continue
		}
		tag, err := p.tag(p.rest[start:])
		if err != nil {
			return nil, err
		}
		// Before the first tag and behind the last one WireMock trims nothing.
		tag.trimBefore = tag.trimBefore && at > p.first
		tag.trimAfter = tag.trimAfter && p.length-len(p.rest) <= p.last
		nodes = p.appendText(nodes, before, tag.trimBefore)
		p.trimNext = tag.trimAfter
		if block != "" && tag.endsBranch() {
			p.closing = tag.content
			return nodes, nil
		}
		n, err := p.node(tag)
		if err != nil {
			return nil, fmt.Errorf("{{%s}}: %w", tag.content, err)
		}
		if n != nil {
			nodes = append(nodes, n)
		}
	}
}

// appendText adds what stands between two tags.
func (p *parser) appendText(nodes []node, content string, trimEnd bool) []node {
	if p.trimNext {
		content = strings.TrimLeft(content, " \t\r\n")
	}
	if trimEnd {
		content = strings.TrimRight(content, " \t\r\n")
	}
	if content == "" {
		return nodes
	}
	return append(nodes, text(content))
}

// node turns a tag, and the block that it opens, into a node.
func (p *parser) node(t tag) (node, error) {
	switch {
	case strings.HasPrefix(t.content, "!"):
		return nil, nil
	case strings.HasPrefix(t.content, "#"):
		return p.block(strings.TrimSpace(t.content[1:]), "")
	case strings.HasPrefix(t.content, "^"):
		return p.section(strings.TrimSpace(t.content[1:]), true)
	case strings.HasPrefix(t.content, "/"), t.content == "else":
		return nil, fmt.Errorf("there is no open block to close")
	case t.content == "" || strings.ContainsAny(t.content[:1], ">{*"):
		return nil, fmt.Errorf("not supported")
	}
	content := strings.TrimSpace(strings.TrimPrefix(t.content, "&"))
	if of := p.plainText(content); of != nil {
		return plainText{of}, nil
	}
	value, err := p.expression(content)
	if err != nil {
		return nil, err
	}
	return output{value}, nil
}

// tag is what stands between {{ and }}.
type tag struct {
	content               string
	trimBefore, trimAfter bool
}

// endsBranch reports whether the tag ends the branch of a block that it is in.
func (t tag) endsBranch() bool {
	return strings.HasPrefix(t.content, "/") || t.content == "else" || t.content == "^" || strings.HasPrefix(t.content, "else ")
}

// tag takes the tag that the text begins with off the template.
func (p *parser) tag(from string) (tag, error) {
	open, end := "{{", "}}"
	switch {
	case strings.HasPrefix(from, "{{{{"):
		return tag{}, fmt.Errorf("raw blocks {{{{ are not supported")
	case strings.HasPrefix(from, "{{{"):
		open, end = "{{{", "}}}"
	case strings.HasPrefix(from, "{{!--"):
		end = "--}}"
	case strings.HasPrefix(from, "{{~!--"):
		end = "--~}}"
	}
	length := closing(from[len(open):], end)
	if length < 0 {
		return tag{}, fmt.Errorf("'%s' is not closed", firstLine(from))
	}
	content := from[len(open) : len(open)+length]
	p.rest = from[len(open)+length+len(end):]
	var t tag
	content, t.trimBefore = strings.CutPrefix(content, "~")
	content, t.trimAfter = strings.CutSuffix(content, "~")
	t.trimAfter = t.trimAfter || end == "--~}}"
	t.content = strings.TrimSpace(content)
	return t, nil
}

// closing finds the end of a tag, which a quoted text may contain.
func closing(content, end string) int {
	if strings.HasPrefix(strings.TrimPrefix(content, "~"), "!") {
		return strings.Index(content, end)
	}
	for i := 0; i < len(content); i++ {
		switch {
		case strings.HasPrefix(content[i:], end):
			return i
		case content[i] == '\'' || content[i] == '"':
			n := quoted(content[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		}
	}
	return -1
}

// quoted returns how long the text in quotes is that content begins with, quotes and
// all; negative if it has no end. A backslash has a quote be part of the text, unless
// there is no other one behind it.
func quoted(content string) int {
	quote := content[0]
	for i := 1; i < len(content); i++ {
		switch {
		case content[i] == quote:
			return i + 1
		case content[i] == '\\' && i+1 < len(content) && content[i+1] == quote:
			i++
		}
	}
	end := strings.IndexByte(content[1:], quote)
	if end < 0 {
		return -1
	}
	return end + 2
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// isLocal reports whether a block around gives its element this name.
func (p *parser) isLocal(name string) bool { return slices.Contains(p.locals, name) }
