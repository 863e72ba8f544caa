// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package javaregexp compiles Java's regular expressions with Go's package,
// and refuses those that mean something else there.
package javaregexp

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Compile compiles an expression that may match anywhere in a text.
func Compile(source string) (*regexp.Regexp, error) { return compile(source, "", "") }

// CompileWhole compiles an expression that has to match a whole text.
func CompileWhole(source string) (*regexp.Regexp, error) { return compile(source, `\A`, `\z`) }

// CompileLines compiles an expression that has to match a whole text and whose
// dot matches a line break as well.
func CompileLines(source string) (*regexp.Regexp, error) { return compile(source, `(?s)\A`, `\z`) }

// compile names the expression in its errors: what Go's RE2 cannot do, or would
// read differently.
func compile(source, before, after string) (*regexp.Regexp, error) {
	if err := checkClasses(source); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(before + "(?:" + source + ")" + after)
	if err != nil {
		if _, alone := syntax.Parse(source, syntax.Perl); alone != nil {
			err = alone
		}
		return nil, fmt.Errorf("the regular expression '%s' is not supported: %w", source, err)
	}
	return re, nil
}

// checkClasses refuses unions and intersections in a character class, which
// RE2 takes for plain characters.
func checkClasses(source string) error {
	inClass := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\':
			i++
		case !inClass && c == '[':
			inClass = true
			if strings.HasPrefix(source[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(source[i+1:], "]") {
				i++
			}
		case inClass && c == ']':
			inClass = false
		case inClass && c == '[' && !strings.HasPrefix(source[i:], "[:"), inClass && strings.HasPrefix(source[i:], "&&"):
			return fmt.Errorf("the regular expression '%s' is not supported: a class of characters within another", source)
		}
	}
	return nil
}
