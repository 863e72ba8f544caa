// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// patternIn reads an object like {"contains": "x"}.
func (f *fields) patternIn(name string, data json.RawMessage) (pattern, error) {
	inner, err := f.inside(name, data)
	if err != nil {
		return nil, err
	}
	p, err := inner.pattern()
	if err != nil {
		return nil, err
	}
	if p == nil {
		if err := inner.done(); err != nil {
			return nil, err
		}
		return nil, &fieldError{inner.path, errors.New("there is no condition in it")}
	}
	return p, nil
}

// pattern takes the condition that an object has; nil if it has none. Of several it
// takes the first that is written, as WireMock does, and warns of what else is there.
func (f *fields) pattern() (pattern, error) {
	kind, err := f.patternKind()
	if kind == "" || err != nil {
		return nil, err
	}
	data, _ := f.take(kind)
	p, err := patternKinds[kind](f, data)
	if err != nil {
		return nil, f.located(kind, err)
	}
	f.ignore(kind)
	return p, nil
}

// patternKind returns the field that has the condition; empty if there is none.
func (f *fields) patternKind() (string, error) {
	known := func(name string) bool {
		data, given := f.left[name]
		return given && patternKinds[name] != nil && !isNull(data)
	}
	first, several := "", false
	for name := range f.left {
		if known(name) {
			first, several = name, first != ""
		}
	}
	if !several {
		return first, nil
	}
	members, err := orderedMembers(f.data)
	i := slices.IndexFunc(members, func(m member) bool { return known(m.name) })
	if err != nil || i < 0 {
		return "", err
	}
	return members[i].name, nil
}

// patternKinds are the conditions by the field that has them.
var patternKinds map[string]func(f *fields, data json.RawMessage) (pattern, error)

// The conditions that contain others refer back to the list.
func init() {
	patternKinds = map[string]func(f *fields, data json.RawMessage) (pattern, error){
		"equalToJson":         parseEqualToJSON,
		"matchesJsonPath":     parseMatchesJSONPath,
		"matchesJsonSchema":   parseMatchesJSONSchema,
		"equalToXml":          parseEqualToXML,
		"matchesXPath":        parseMatchesXPath,
		"matchesPathTemplate": onText(parseMatchesPathTemplate),
		"before":              onMoment("before", func(c int) bool { return c < 0 }),
		"after":               onMoment("after", func(c int) bool { return c > 0 }),
		"equalToDateTime":     onMoment("equalToDateTime", func(c int) bool { return c == 0 }),
		"equalTo":             parseEqualTo,
		"binaryEqualTo":       parseBinaryEqualTo,
		"contains":            onText(func(text string) (pattern, error) { return contains(text), nil }),
		"doesNotContain":      onText(func(text string) (pattern, error) { return doesNotContain(text), nil }),
		"matches":             onText(parseMatches),
		"doesNotMatch":        onText(parseDoesNotMatch),
		"absent":              parseAbsent,
		"anything":            func(*fields, json.RawMessage) (pattern, error) { return anything{}, nil },
		"not":                 parseNot,
		"and":                 parseAnd,
		"or":                  parseOr,
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

func parseAbsent(f *fields, data json.RawMessage) (pattern, error) {
	if string(data) == "false" {
		f.warnf("absent", `false counts as true, as with WireMock: {"not": {"absent": true}} is the opposite`)
	}
	return absent{}, nil
}

func parseNot(f *fields, data json.RawMessage) (pattern, error) {
	p, err := f.patternIn("not", data)
	return not{p}, err
}

func parseAnd(f *fields, data json.RawMessage) (pattern, error) {
	list, err := f.patternsIn("and", data)
	return allOf(list), err
}

func parseOr(f *fields, data json.RawMessage) (pattern, error) {
	list, err := f.patternsIn("or", data)
	return anyOf(list), err
}

// patternsIn reads a list of conditions.
func (f *fields) patternsIn(name string, data json.RawMessage) ([]pattern, error) {
	list, err := elements(f.at(name), data)
	if err != nil {
		return nil, err
	}
	patterns := make([]pattern, len(list))
	for i, element := range list {
		if patterns[i], err = f.patternIn(fmt.Sprintf("%s[%d]", name, i), element); err != nil {
			return nil, err
		}
	}
	return patterns, nil
}
