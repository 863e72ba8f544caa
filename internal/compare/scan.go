// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import "slices"

type scanner struct {
	s     []byte
	i     int
	nodes []node
}

func (p *scanner) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\n', '\t', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *scanner) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *scanner) value(key, keyEnd uint32, keyEscaped bool, depth int) error {
	at, start := len(p.nodes), uint32(p.i)
	if at == maxNodes {
		return errTooMany
	}
	if at == cap(p.nodes) {
		p.nodes = slices.Grow(p.nodes, max(firstNodes, at))
	}
	p.nodes = p.nodes[:at+1]
	var err error
	what, end, escaped := number, uint32(0), false
	switch p.peek() {
	case '{':
		what, err = object, p.object(depth)
	case '[':
		what, err = array, p.array(depth)
	case '"':
		what = text
		start, end, escaped, err = p.string()
	case 't':
		what, err = boolean, p.word("true")
	case 'f':
		what, err = boolean, p.word("false")
	case 'n':
		what, err = null, p.word("null")
	default:
		err = p.number()
	}
	if what != text {
		end = uint32(p.i)
	}
	n := &p.nodes[at]
	n.start, n.end, n.key, n.keyEnd, n.next = start, end, key, keyEnd, uint32(len(p.nodes))
	n.token, n.escaped, n.keyEscaped, n.seen, n.hash = what, escaped, keyEscaped, false, 0
	return err
}

func (p *scanner) word(word string) error {
	if len(p.s)-p.i < len(word) || string(p.s[p.i:p.i+len(word)]) != word {
		return errNotJSON
	}
	p.i += len(word)
	return nil
}

func (p *scanner) digits() bool {
	from := p.i
	for p.i < len(p.s) && p.s[p.i]-'0' < 10 {
		p.i++
	}
	return p.i > from
}

func (p *scanner) number() error {
	if p.peek() == '-' {
		p.i++
	}
	if p.peek() == '0' {
		p.i++
	} else if !p.digits() {
		return errNotJSON
	}
	if p.peek() == '.' {
		if p.i++; !p.digits() {
			return errNotJSON
		}
	}
	if p.peek()|0x20 == 'e' {
		if p.i++; p.peek() == '+' || p.peek() == '-' {
			p.i++
		}
		if !p.digits() {
			return errNotJSON
		}
	}
	return nil
}

// special marks the bytes that end the plain part of a string.
var special = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

func (p *scanner) string() (start, end uint32, escaped bool, err error) {
	p.i++
	from := p.i
	for s := p.s; p.i < len(s); {
		c := s[p.i]
		if !special[c] {
			p.i++
			continue
		}
		switch c {
		case '"':
			p.i++
			return uint32(from), uint32(p.i - 1), escaped, nil
		case '\\':
			if !p.escape() {
				return 0, 0, false, errNotJSON
			}
			escaped = true
		default:
			return 0, 0, false, errNotJSON
		}
	}
	return 0, 0, false, errNotJSON
}

func (p *scanner) escape() bool {
	if p.i++; p.i == len(p.s) {
		return false
	}
	switch p.s[p.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.i++
		return true
	case 'u':
		if len(p.s)-p.i < 5 {
			return false
		}
		for _, c := range p.s[p.i+1 : p.i+5] {
			if _, ok := hexDigit(c); !ok {
				return false
			}
		}
		p.i += 5
		return true
	}
	return false
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10, true
	}
	return 0, false
}

func (p *scanner) array(depth int) error {
	if depth == maxDepth {
		return errTooDeep
	}
	p.i++
	if p.space(); p.peek() == ']' {
		p.i++
		return nil
	}
	for {
		p.space()
		if err := p.value(0, 0, false, depth+1); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case ']':
			p.i++
			return nil
		default:
			return errNotJSON
		}
	}
}

func (p *scanner) object(depth int) error {
	if depth == maxDepth {
		return errTooDeep
	}
	p.i++
	if p.space(); p.peek() == '}' {
		p.i++
		return nil
	}
	for {
		if p.space(); p.peek() != '"' {
			return errNotJSON
		}
		key, keyEnd, escaped, err := p.string()
		if err != nil {
			return err
		}
		if p.space(); p.peek() != ':' {
			return errNotJSON
		}
		p.i++
		p.space()
		if err := p.value(key, keyEnd, escaped, depth+1); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.i++
		case '}':
			p.i++
			return nil
		default:
			return errNotJSON
		}
	}
}
