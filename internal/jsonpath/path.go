// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package jsonpath has the one syntax in which options and reports name places
// in JSON: $.items[*].id, $['odd name'], $.by_id.*.price. It is the part of
// JSONPath that names places without looking at values; the whole language,
// for WireMock's matchers, is in internal/wiremock.
package jsonpath

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Step leads one level down: to the member of a name, or to every member of
// an object and every element of an array.
type Step struct {
	Name string
	Any  bool
}

// Path is a list of steps from the top of a document. Without steps it is the
// document itself.
type Path []Step

// maxSteps bounds the depth of a path.
const maxSteps = 100

// Parse returns the path that text writes. The error has the position within
// text, counted in characters from 1.
func Parse(text string) (Path, error) {
	p := parser{text: text}
	if !p.skip("$") {
		return nil, p.fault("expected $, the top of the document")
	}
	path := Path{}
	for p.at < len(text) {
		if len(path) == maxSteps {
			return nil, p.fault(fmt.Sprintf("expected at most %d steps", maxSteps))
		}
		step, err := p.step()
		if err != nil {
			return nil, err
		}
		path = append(path, step)
	}
	return path, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) fault(why string) error {
	return fmt.Errorf("'%s' is not a JSON path: at character %d: %s", p.text, utf8.RuneCountInString(p.text[:p.at])+1, why)
}

func (p *parser) skip(token string) bool {
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *parser) step() (Step, error) {
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, ".."):
		return Step{}, p.fault("'..' is not taken: write every step")
	case strings.HasPrefix(rest, "[?"), strings.HasPrefix(rest, "[("):
		return Step{}, p.fault("filters are not taken: [*] is every element")
	case p.skip("[*]"), p.skip(".*"):
		return Step{Any: true}, nil
	case p.skip("['"):
		return p.quoted('\'')
	case p.skip(`["`):
		return p.quoted('"')
	case p.skip("["):
		return Step{}, p.fault("expected * or a quoted name: elements have no fixed place, [*] is every one")
	case p.skip("."):
		return p.plain()
	}
	return Step{}, p.fault("expected . or [")
}

// plain reads a name up to the next step.
func (p *parser) plain() (Step, error) {
	from := p.at
	for p.at < len(p.text) && isPlain(p.text[p.at]) {
		p.at++
	}
	if p.at == from {
		return Step{}, p.fault("expected a name; one with other characters than letters, digits, _ and - is written ['so']")
	}
	return Step{Name: p.text[from:p.at]}, nil
}

// quoted reads the rest of a name in brackets. A backslash takes the next
// character as it is.
func (p *parser) quoted(quote byte) (Step, error) {
	var name strings.Builder
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case quote:
			p.at++
			if !p.skip("]") {
				return Step{}, p.fault("expected ]")
			}
			return Step{Name: name.String()}, nil
		case '\\':
			if p.at++; p.at == len(p.text) {
				return Step{}, p.fault("expected a character behind the backslash")
			}
			name.WriteByte(p.text[p.at])
		default:
			name.WriteByte(c)
		}
	}
	return Step{}, p.fault(fmt.Sprintf("expected %c]", quote))
}

// isPlain reports whether c may stand in a name without quotes.
func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= utf8.RuneSelf
}

// String returns the path as Parse reads it.
func (p Path) String() string {
	text := []byte("$")
	for _, step := range p {
		if step.Any {
			text = append(text, "[*]"...)
		} else {
			text = AppendName(text, step.Name)
		}
	}
	return string(text)
}

// AppendName appends the step to the member of a name: .name, or ['odd name']
// if it has other characters than letters, digits, _ and -.
func AppendName[T []byte | string](dst []byte, name T) []byte {
	plain := len(name) > 0
	for i := 0; i < len(name) && plain; i++ {
		plain = isPlain(name[i])
	}
	if plain {
		return append(append(dst, '.'), name...)
	}
	dst = append(dst, "['"...)
	for i := range len(name) {
		if name[i] == '\'' || name[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, name[i])
	}
	return append(dst, "']"...)
}
