// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/javaregexp"
)

// translate writes Jayway's dialect in the words of the parser: names with a
// dash go into brackets, regular expressions become anchored texts, sizes calls,
// and the function at the end is taken off.
func translate(text string) (translated string, length bool, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", false, errors.New("it is empty")
	}
	for _, function := range []string{".length()", ".size()"} {
		if !length {
			text, length = strings.CutSuffix(text, function)
		}
	}
	if strings.HasSuffix(text, ")") {
		return "", false, errors.New("length() and size() are the only functions that are supported")
	}
	var out strings.Builder
	for depth := 0; text != ""; {
		taken, written := 1, text[:1]
		switch c := text[0]; {
		case c == '\'' || c == '"':
			taken = quoted(text)
			written = text[:taken]
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == '.' && depth == 0:
			taken, written = child(text)
		case depth > 0 && c == '@':
			taken, written = size(text)
		case depth > 0 && strings.HasPrefix(text, "=~"):
			if taken, written, err = match(text); err != nil {
				return "", false, err
			}
		}
		out.WriteString(written)
		text = text[taken:]
	}
	return out.String(), length, nil
}

// quoted gives the length of the quoted text at the beginning.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// child puts a member's name that the parser would not take into brackets.
func child(text string) (taken int, written string) {
	end := strings.IndexAny(text[1:], ".[")
	if end < 0 {
		end = len(text) - 1
	}
	name := text[1 : 1+end]
	if !strings.Contains(name, "-") {
		return 1, text[:1]
	}
	return 1 + end, "['" + strings.ReplaceAll(name, "'", `\'`) + "']"
}

var sized = regexp.MustCompile(`^(@(?:\.\w+|\['[^']+'\])*)\.(?:length|size)\(\)`)

// size turns `@.list.size()` within a filter into a call.
func size(text string) (taken int, written string) {
	parts := sized.FindStringSubmatch(text)
	if parts == nil {
		return 1, text[:1]
	}
	return len(parts[0]), "length(" + parts[1] + ")"
}

var flagged = regexp.MustCompile(`^=~\s*/((?:[^/\\]|\\.)*)/([a-z]*)`)

// match turns `=~ /pattern/i` into a comparison with a text.
func match(text string) (taken int, written string, err error) {
	parts := flagged.FindStringSubmatch(text)
	if parts == nil {
		return 2, text[:2], nil
	}
	if strings.Trim(parts[2], "ims") != "" {
		return 0, "", fmt.Errorf("the flags '%s' of /%s/ are not supported", parts[2], parts[1])
	}
	source := strings.ReplaceAll(parts[1], `\/`, "/")
	if _, err := javaregexp.CompileWhole(source); err != nil {
		return 0, "", err
	}
	pattern := `\A(?:` + source + `)\z`
	if parts[2] != "" {
		pattern = "(?" + parts[2] + ")" + pattern
	}
	return len(parts[0]), "=~ '" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(pattern) + "'", nil
}
