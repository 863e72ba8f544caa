// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Substitution changes targets as sed changes lines.
type Substitution struct {
	pattern *regexp.Regexp
	with    []byte // as regexp.Expand has it
	all     bool   // of the matches, and not only the first
}

// ParseSubstitution reads s/REGEXP/REPLACEMENT/, with any delimiter and perhaps g or
// i behind it. In a replacement \1 is a group and & all that was matched.
func ParseSubstitution(text string) (Substitution, error) {
	wrong := fmt.Errorf("'%s' is not a substitution: expected one like s/REGEXP/REPLACEMENT/", text)
	delimiter, size := utf8.DecodeRuneInString(strings.TrimPrefix(text, "s"))
	if !strings.HasPrefix(text, "s") || size == 0 || delimiter == '\\' || delimiter == '\n' || isAlphanumeric(delimiter) {
		return Substitution{}, wrong
	}
	parts := splitUnescaped(text[1+size:], delimiter)
	if len(parts) != 3 || parts[0] == "" {
		return Substitution{}, wrong
	}
	s := Substitution{with: expansion(parts[1])}
	expression := parts[0]
	for _, flag := range parts[2] {
		switch flag {
		case 'g':
			s.all = true
		case 'i', 'I':
			expression = "(?i)" + expression
		default:
			return Substitution{}, fmt.Errorf("'%s': '%c' behind a substitution is not valid: expected g or i", text, flag)
		}
	}
	var err error
	if s.pattern, err = regexp.Compile(expression); err != nil {
		return Substitution{}, fmt.Errorf("'%s': %v", text, err)
	}
	return s, nil
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
}

// splitUnescaped splits a text at a delimiter that has no backslash before it, and
// takes the backslashes from those that have.
func splitUnescaped(text string, delimiter rune) []string {
	var parts []string
	var part strings.Builder
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			if r != delimiter {
				part.WriteByte('\\')
			}
			part.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == delimiter:
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteRune(r)
		}
	}
	if escaped {
		part.WriteByte('\\')
	}
	return append(parts, part.String())
}

// expansion returns the template of Go's regexp for a replacement of sed's.
func expansion(text string) []byte {
	var out []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$':
			out = append(out, "$$"...)
		case c == '&':
			out = append(out, "${0}"...)
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] >= '0' && text[i] <= '9' {
				out = append(append(append(out, "${"...), text[i]), '}')
			} else {
				out = append(out, text[i])
			}
		default:
			out = append(out, c)
		}
	}
	return out
}

// apply returns a target with what it matches replaced.
func (s *Substitution) apply(target []byte) []byte {
	if s.all {
		return s.pattern.ReplaceAll(target, s.with)
	}
	at := s.pattern.FindSubmatchIndex(target)
	if at == nil {
		return target
	}
	out := append([]byte(nil), target[:at[0]]...)
	out = s.pattern.Expand(out, s.with, target, at)
	return append(out, target[at[1]:]...)
}
