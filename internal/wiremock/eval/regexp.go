// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"regexp"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a regular expression of Java's. Those that RE2 reads as Java does
// take a time that grows with the text only; the others, with look-around,
// possessive quantifiers or back-references, can go astray and are given
// matchTimeout.
type Regexp struct {
	linear *regexp.Regexp
	java   *regexp2.Regexp // if linear is nil
}

const (
	// matchTimeout bounds a match of an expression that RE2 refuses.
	matchTimeout = 250 * time.Millisecond
	// longestSource bounds the expressions themselves, in bytes.
	longestSource = 64 << 10
	// longestText is what such an expression may be matched with, in bytes: four
	// times as much is allocated for it.
	longestText = 1 << 20
)

// CompileRegexp compiles an expression that may match anywhere in a text. Its
// errors name the expression.
func CompileRegexp(source string) (*Regexp, error) { return compileRegexp(source, "", "") }

// CompileWhole compiles an expression that has to match a whole text.
func CompileWhole(source string) (*Regexp, error) { return compileRegexp(source, `\A`, `\z`) }

// CompileLines compiles an expression that has to match a whole text and whose
// dot matches a line break as well.
func CompileLines(source string) (*Regexp, error) { return compileRegexp(source, `(?s)\A`, `\z`) }

func compileRegexp(source, before, after string) (*Regexp, error) {
	if len(source) > longestSource {
		return nil, fmt.Errorf("the regular expression is longer than %d bytes", longestSource)
	}
	plain, err := plainClasses(source)
	if err != nil {
		return nil, fmt.Errorf("the regular expression '%s' is not supported: %w", source, err)
	}
	whole := before + "(?:" + plain + ")" + after
	if re, err := regexp.Compile(whole); err == nil {
		return &Regexp{linear: re}, nil
	}
	if _, err := regexp2.Compile(plain); err != nil { // names no part that was added here
		return nil, fmt.Errorf("the regular expression '%s' is not supported: %w", source, err)
	}
	re, err := regexp2.Compile(whole)
	if err != nil {
		return nil, fmt.Errorf("the regular expression '%s' is not supported: %w", source, err)
	}
	re.MatchTimeout = matchTimeout
	return &Regexp{java: re}, nil
}

// Match reports whether a text matches. What cannot be found out exceeds the
// budget.
func (r *Regexp) Match(text string, b *Budget) bool {
	if !b.Read(len(text)) {
		return false
	}
	if r.linear != nil {
		return r.linear.MatchString(text)
	}
	if len(text) > longestText {
		b.exhaust()
		return false
	}
	matches, err := r.java.MatchString(text)
	if err != nil {
		b.exhaust()
	}
	return matches
}

// Find returns the first part of a text that matches.
func (r *Regexp) Find(text string, b *Budget) (found string, ok bool) {
	if !b.Read(len(text)) {
		return "", false
	}
	if r.linear != nil {
		at := r.linear.FindStringIndex(text)
		if at == nil {
			return "", false
		}
		return text[at[0]:at[1]], true
	}
	if len(text) > longestText {
		b.exhaust()
		return "", false
	}
	match, err := r.java.FindStringMatch(text)
	if err != nil {
		b.exhaust()
	}
	if match == nil {
		return "", false
	}
	return match.String(), true
}

// FindGroups returns what the groups of every match in a text are, one match after
// another.
func (r *Regexp) FindGroups(text string, b *Budget) (groups []string) {
	if !b.Read(len(text)) {
		return nil
	}
	if r.linear != nil {
		for _, match := range r.linear.FindAllStringSubmatch(text, mostMatches) {
			if !b.Spend(kept * len(match)) {
				return nil
			}
			groups = append(groups, match[1:]...)
		}
		return groups
	}
	if len(text) > longestText {
		b.exhaust()
		return nil
	}
	match, err := r.java.FindStringMatch(text)
	for n := 0; err == nil && match != nil && n < mostMatches && b.Spend(kept*len(match.Groups())); n++ {
		for _, group := range match.Groups()[1:] {
			groups = append(groups, group.String())
		}
		match, err = r.java.FindNextMatch(match)
	}
	if err != nil {
		b.exhaust()
	}
	return groups
}

// mostMatches bounds how many matches are taken from a text.
const mostMatches = 1000
