// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// xmlPlaceholders are the texts like ${xmlunit.ignore} in an expected document,
// each with what it stands for. None means that there are none.
type xmlPlaceholders struct {
	form  *regexp.Regexp
	any   map[string]bool // those that stand for whatever there is
	known map[string]func(actual string, b *eval.Budget) bool
}

func newXMLPlaceholders(opening, closing string) (*xmlPlaceholders, error) {
	form, err := regexp.Compile(`\A\s*(?:` + opening + `)\s*xmlunit\.([A-Za-z]+)\s*(?:\((.*)\))?\s*(?:` + closing + `)\s*\z`)
	if err != nil {
		return nil, err
	}
	return &xmlPlaceholders{form, make(map[string]bool), make(map[string]func(string, *eval.Budget) bool)}, nil
}

var numberText = regexp.MustCompile(`\A[+-]?\d*\.?\d+([eE][+-]?\d+)?\z`)

// compile finds the placeholders of a document.
func (x *xmlPlaceholders) compile(n *eval.XML) error {
	for _, list := range [][]*eval.XML{n.Attrs, n.Children} {
		for _, c := range list {
			if err := x.compile(c); err != nil {
				return err
			}
		}
	}
	parts := x.form.FindStringSubmatch(n.Text)
	if n.Text == "" || parts == nil {
		return nil
	}
	accepts, err := placeholderOf(parts[1], parts[2])
	x.known[strings.TrimSpace(n.Text)] = accepts
	x.any[strings.TrimSpace(n.Text)] = parts[1] == "ignore"
	return err
}

func placeholderOf(name, argument string) (func(actual string, b *eval.Budget) bool, error) {
	switch name {
	case "ignore":
		return func(string, *eval.Budget) bool { return true }, nil
	case "isNumber":
		return func(actual string, b *eval.Budget) bool { return b.Read(len(actual)) && numberText.MatchString(actual) }, nil
	case "matchesRegex":
		re, err := eval.CompileRegexp(argument)
		return func(actual string, b *eval.Budget) bool { return re.Match(actual, b) }, err
	case "isDateTime":
		return dateTimeOf(argument)
	}
	return nil, fmt.Errorf("the placeholder ${xmlunit.%s} is not supported", name)
}

func dateTimeOf(argument string) (func(actual string, b *eval.Budget) bool, error) {
	if argument == "" {
		return func(actual string, _ *eval.Budget) bool {
			_, ok := eval.ParseMoment(strings.Replace(actual, " ", "T", 1))
			return ok
		}, nil
	}
	format, err := eval.CompileDateFormat(argument)
	return func(actual string, _ *eval.Budget) bool {
		_, ok := format.Parse(actual)
		return ok
	}, err
}

// accept reports whether an expected text is a placeholder for an actual one.
func (x *xmlPlaceholders) accept(expected, actual string, b *eval.Budget) bool {
	if x == nil {
		return false
	}
	accepts := x.known[strings.TrimSpace(expected)]
	return accepts != nil && accepts(actual, b)
}

// ignores reports whether an expected text stands for whatever there is.
func (x *xmlPlaceholders) ignores(expected string) bool {
	return x != nil && x.any[strings.TrimSpace(expected)]
}

// accounts reports whether the expected attributes that are missing are
// placeholders.
func (x *xmlPlaceholders) accounts(want, got []*eval.XML) bool {
	if x == nil || len(got) > len(want) {
		return false
	}
	missing := 0
	for _, a := range want {
		if x.known[strings.TrimSpace(a.Text)] != nil {
			missing++
		}
	}
	return len(want)-len(got) <= missing
}
