// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"strings"
)

// deepestClass bounds classes of characters within one another.
const deepestClass = 20

// plainClasses returns a regular expression of Java's without unions and intersections of
// classes of characters, as in [\d[a-f]] and [a-z&&[^b]], which both libraries take
// for plain characters: one of several classes, or one that others look ahead to.
func plainClasses(source string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(source); {
		n := 1
		text := source[i : i+1]
		var err error
		switch source[i] {
		case '\\':
			n = escapeLength(source[i:])
			text = source[i : i+n]
		case '[':
			text, n, err = plainClass(source[i:], 0)
		}
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		i += n
	}
	return out.String(), nil
}

// escapeLength returns how long an escape is at the beginning of a text.
func escapeLength(text string) int {
	if strings.HasPrefix(text, `\Q`) {
		if end := strings.Index(text, `\E`); end >= 0 {
			return end + 2
		}
		return len(text)
	}
	return min(2, len(text))
}

// plainClass returns the class at the beginning of a text, and how long it is there.
// What is no class is left for the libraries to refuse.
func plainClass(text string, depth int) (class string, length int, err error) {
	if depth == deepestClass {
		return "", 0, errors.New("classes of characters are nested too deep")
	}
	begin := 1
	negated := strings.HasPrefix(text[1:], "^")
	if negated {
		begin++
	}
	var (
		own     strings.Builder
		members []string // of the union at hand
		sets    []string // of the intersection
		plain   = true
	)
	union := func() error {
		if own.Len() > 0 {
			members = append(members, "["+own.String()+"]")
		}
		if len(members) == 0 {
			return errors.New("a part of a class of characters is empty")
		}
		sets = append(sets, "(?:"+strings.Join(members, "|")+")")
		own.Reset()
		members = nil
		return nil
	}
	for i := begin; i < len(text); {
		n := 1
		switch {
		case text[i] == '\\':
			n = escapeLength(text[i:])
			own.WriteString(text[i : i+n])
		case text[i] == ']' && i > begin && plain:
			return text[:i+1], i + 1, nil
		case text[i] == ']' && i > begin:
			if err := union(); err != nil {
				return "", 0, err
			}
			return joinClasses(sets, negated), i + 1, nil
		case text[i] == '[' && !strings.HasPrefix(text[i:], "[:"):
			var inner string
			if inner, n, err = plainClass(text[i:], depth+1); err != nil {
				return "", 0, err
			}
			members, plain = append(members, inner), false
		case strings.HasPrefix(text[i:], "&&"):
			if err := union(); err != nil {
				return "", 0, err
			}
			n, plain = 2, false
		default:
			own.WriteByte(text[i])
		}
		i += n
	}
	return text, len(text), nil
}

// joinClasses returns what matches a character that is in all of the sets, or the
// opposite.
func joinClasses(sets []string, negated bool) string {
	var out strings.Builder
	out.WriteString("(?:")
	for _, set := range sets[:len(sets)-1] {
		out.WriteString("(?=" + set + ")")
	}
	out.WriteString(sets[len(sets)-1] + ")")
	if negated {
		return "(?:(?!" + out.String() + `)[\s\S])`
	}
	return out.String()
}
