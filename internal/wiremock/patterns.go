// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// pattern is a condition on a text that may be absent.
type pattern interface {
	matches(v value) bool
	// String returns the condition in the words of the mapping.
	String() string
}

// value is what a pattern looks at.
type value struct {
	text    string
	present bool
	body    *document // set if the text is the body, which is parsed once
	budget  *eval.Budget
}

func present(text string) value { return value{text: text, present: true} }

// part returns a value that was found within v.
func (v value) part(text string) value { return value{text: text, present: true, budget: v.budget} }

// perParse is what it costs to parse a text of its own.
const perParse = 32

func (v value) json() (any, bool) {
	if v.body != nil {
		return v.body.json()
	}
	if !v.budget.Spend(perParse + len(v.text)) {
		return nil, false
	}
	return eval.ParseJSON(v.text)
}

func (v value) isJSON() bool {
	if v.body != nil {
		return v.body.isValid()
	}
	if !v.budget.Spend(perParse + len(v.text)) {
		return false
	}
	return eval.ValidJSON(v.text)
}

type equalTo struct {
	text       string
	ignoreCase bool
}

func (p equalTo) matches(v value) bool {
	return v.present && (v.text == p.text || p.ignoreCase && strings.EqualFold(v.text, p.text))
}

func (p equalTo) String() string {
	if p.ignoreCase {
		return "equalTo '" + p.text + "' in any case"
	}
	return "equalTo '" + p.text + "'"
}

// basicAuth is a name and a password in base64. The word before them may be in any
// case.
type basicAuth string

func (p basicAuth) matches(v value) bool {
	scheme, login, _ := strings.Cut(v.text, " ")
	return v.present && login == string(p) && strings.EqualFold(scheme, "Basic")
}

func (p basicAuth) String() string { return "equalTo 'Basic " + string(p) + "'" }

type binaryEqualTo string

func (p binaryEqualTo) matches(v value) bool {
	if v.body != nil {
		return v.present && v.body.raw == string(p)
	}
	return v.present && v.text == string(p)
}

func (p binaryEqualTo) String() string {
	return "binaryEqualTo " + base64.StdEncoding.EncodeToString([]byte(p))
}

type contains string

func (p contains) matches(v value) bool { return v.present && strings.Contains(v.text, string(p)) }
func (p contains) String() string       { return "contains '" + string(p) + "'" }

type doesNotContain string

func (p doesNotContain) matches(v value) bool {
	return !v.present || !strings.Contains(v.text, string(p))
}
func (p doesNotContain) String() string { return "doesNotContain '" + string(p) + "'" }

// wholeText is a regular expression that has to match a whole text.
type wholeText struct {
	source string
	re     *eval.Regexp
}

func (p wholeText) matches(v value) bool { return v.present && p.re.Match(v.text, v.budget) }
func (p wholeText) String() string       { return "matches '" + p.source + "'" }

type doesNotMatch struct{ wholeText }

func (p doesNotMatch) matches(v value) bool { return !p.wholeText.matches(v) }
func (p doesNotMatch) String() string       { return "doesNotMatch '" + p.source + "'" }

// likePath is a template of a path, /contacts/{id}.
type likePath struct {
	text     string
	template *urlTemplate
}

func (p likePath) matches(v value) bool {
	return v.present && v.budget.Read(len(v.text)) && p.template.matches(v.text)
}
func (p likePath) String() string { return "matchesPathTemplate '" + p.text + "'" }

type absent struct{}

func (absent) matches(v value) bool { return !v.present }
func (absent) String() string       { return "absent" }

type anything struct{}

func (anything) matches(value) bool { return true }
func (anything) String() string     { return "anything" }

// unmet is a condition that WireMock takes and that nothing meets, in words.
type unmet string

func (unmet) matches(value) bool { return false }
func (p unmet) String() string   { return string(p) }

type not struct{ pattern }

func (p not) matches(v value) bool { return !p.pattern.matches(v) }
func (p not) String() string       { return "not " + p.pattern.String() }

type allOf []pattern

func (p allOf) matches(v value) bool {
	for _, each := range p {
		if !each.matches(v) {
			return false
		}
	}
	return true
}
func (p allOf) String() string { return joined(p, " and ") }

type anyOf []pattern

func (p anyOf) matches(v value) bool {
	for _, each := range p {
		if each.matches(v) {
			return true
		}
	}
	return false
}
func (p anyOf) String() string { return joined(p, " or ") }

func joined(patterns []pattern, between string) string {
	parts := make([]string, len(patterns))
	for i, p := range patterns {
		parts[i] = p.String()
	}
	return strings.Join(parts, between)
}
