// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// compileRegexp compiles a Java expression that has to match a whole text.
// What Go's RE2 cannot do, or would read differently, is an error.
func compileRegexp(source string) (*regexp.Regexp, error) {
	if err := checkJavaClasses(source); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(`(?s)\A(?:` + source + `)\z`)
	if err != nil {
		if _, alone := syntax.Parse(source, syntax.Perl); alone != nil {
			err = alone
		}
		return nil, fmt.Errorf("the regular expression '%s' is not supported: %w", source, err)
	}
	return re, nil
}

// checkJavaClasses refuses unions and intersections in a character class, which
// RE2 takes for plain characters.
func checkJavaClasses(source string) error {
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
