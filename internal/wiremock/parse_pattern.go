// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// parsePattern reads an object like {"contains": "x"}.
func parsePattern(path string, data json.RawMessage) (pattern, error) {
	f, err := newFields(path, data)
	if err != nil {
		return nil, err
	}
	p, err := f.pattern()
	if err != nil {
		return nil, err
	}
	if p == nil {
		if err := f.done(); err != nil {
			return nil, err
		}
		return nil, &fieldError{path, errors.New("there is no condition in it")}
	}
	for _, kind := range patternKinds {
		if data, more := f.left[kind.name]; more && !isVoid(data) {
			return nil, f.errorf(kind.name, `there is another condition beside it, and WireMock looks at one of them: {"and": [...]} has several`)
		}
	}
	return p, f.done()
}

// pattern takes the one condition that an object has; nil if it has none.
func (f *fields) pattern() (pattern, error) {
	for _, kind := range patternKinds {
		if data, given := f.take(kind.name); given {
			p, err := kind.parse(f, data)
			return p, f.located(kind.name, err)
		}
	}
	return nil, nil
}

// patternKinds is every condition by the field that has it.
var patternKinds []patternKind

type patternKind struct {
	name  string
	parse func(f *fields, data json.RawMessage) (pattern, error)
}

// The conditions that contain others refer back to the list.
func init() {
	patternKinds = []patternKind{
		{"equalToJson", parseEqualToJSON},
		{"matchesJsonPath", parseMatchesJSONPath},
		{"matchesJsonSchema", parseMatchesJSONSchema},
		{"equalToXml", parseEqualToXML},
		{"matchesXPath", parseMatchesXPath},
		{"matchesPathTemplate", onText(parseMatchesPathTemplate)},
		{"before", onMoment("before", func(c int) bool { return c < 0 })},
		{"after", onMoment("after", func(c int) bool { return c > 0 })},
		{"equalToDateTime", onMoment("equalToDateTime", func(c int) bool { return c == 0 })},
		{"equalTo", parseEqualTo},
		{"binaryEqualTo", parseBinaryEqualTo},
		{"contains", onText(func(text string) (pattern, error) { return contains(text), nil })},
		{"doesNotContain", onText(func(text string) (pattern, error) { return doesNotContain(text), nil })},
		{"matches", onText(parseMatches)},
		{"doesNotMatch", onText(parseDoesNotMatch)},
		{"absent", parseAbsent},
		{"anything", func(*fields, json.RawMessage) (pattern, error) { return anything{}, nil }},
		{"not", parseNot},
		{"and", parseAnd},
		{"or", parseOr},
	}
}

// onText returns a parser of conditions that are a text.
func onText(parse func(text string) (pattern, error)) func(*fields, json.RawMessage) (pattern, error) {
	return func(_ *fields, data json.RawMessage) (pattern, error) {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return nil, plain(err)
		}
		return parse(text)
	}
}

func parseEqualTo(f *fields, data json.RawMessage) (pattern, error) {
	var p equalTo
	if err := json.Unmarshal(data, &p.text); err != nil {
		// WireMock takes a number or a truth value by its text.
		if strings.ContainsAny(string(data[:1]), "[{") {
			return nil, plain(err)
		}
		p.text = string(data)
	}
	_, err := f.into("caseInsensitive", &p.ignoreCase)
	return p, err
}

func parseBinaryEqualTo(_ *fields, data json.RawMessage) (pattern, error) {
	var encoded string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return nil, plain(err)
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return binaryEqualTo(decoded), err
}

func parseMatches(text string) (pattern, error) {
	re, err := eval.CompileLines(text)
	return wholeText{text, re}, err
}

func parseDoesNotMatch(text string) (pattern, error) {
	re, err := eval.CompileLines(text)
	return doesNotMatch{wholeText{text, re}}, err
}

func parseMatchesPathTemplate(text string) (pattern, error) {
	t, err := newURLTemplate(text)
	return likePath{text, t}, err
}

func parseAbsent(_ *fields, data json.RawMessage) (pattern, error) {
	if string(data) == "false" { // which WireMock takes for true
		return nil, errors.New(`false is not supported: {"not": {"absent": true}} says it`)
	}
	return absent{}, nil
}

func parseNot(f *fields, data json.RawMessage) (pattern, error) {
	p, err := parsePattern(f.at("not"), data)
	return not{p}, err
}

func parseAnd(f *fields, data json.RawMessage) (pattern, error) {
	list, err := parsePatterns(f.at("and"), data)
	return allOf(list), err
}

func parseOr(f *fields, data json.RawMessage) (pattern, error) {
	list, err := parsePatterns(f.at("or"), data)
	return anyOf(list), err
}

// parsePatterns reads a list of conditions.
func parsePatterns(path string, data json.RawMessage) ([]pattern, error) {
	list, err := elements(path, data)
	if err != nil {
		return nil, err
	}
	patterns := make([]pattern, len(list))
	for i, element := range list {
		if patterns[i], err = parsePattern(fmt.Sprintf("%s[%d]", path, i), element); err != nil {
			return nil, err
		}
	}
	return patterns, nil
}
