// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// operators are ours in WireMock's words.
var operators = map[string]string{
	"equal_to":            "equalTo",
	"contains":            "contains",
	"does_not_contain":    "doesNotContain",
	"matches":             "matches",
	"does_not_match":      "doesNotMatch",
	"equal_to_json":       "equalToJson",
	"matches_json_path":   "matchesJsonPath",
	"matches_json_schema": "matchesJsonSchema",
	"equal_to_xml":        "equalToXml",
	"matches_xpath":       "matchesXPath",
	"absent":              "absent",
}

// conditions are sets with one condition each, all of which have to match.
type conditions []*wiremock.Set

// newConditions compiles conditions. The error names the field.
func newConditions(list []Condition) (conditions, error) {
	var all conditions
	for i, c := range list {
		set, err := c.compile()
		if err != nil {
			return nil, fmt.Errorf("match[%d]: %w", i, err)
		}
		all = append(all, set)
	}
	return all, nil
}

// compile returns a set with one mapping, which matches if the condition holds.
func (c Condition) compile() (*wiremock.Set, error) {
	operator := cmp.Or(c.Operator, "equal_to")
	word, known := operators[operator]
	if !known {
		return nil, fmt.Errorf("operator: '%s' is unknown: expected one of %s", operator, strings.Join(slices.Sorted(maps.Keys(operators)), ", "))
	}
	var value any = c.Value
	if operator == "absent" {
		if value = true; c.Value != "" {
			return nil, errors.New("value: absent has none")
		}
	}
	pattern := map[string]any{word: value}
	request := map[string]any{"bodyPatterns": []any{pattern}}
	if c.Property != "" {
		request = map[string]any{"headers": map[string]any{c.Property: pattern}}
	}
	text, err := json.Marshal(map[string]any{"request": request})
	if err != nil {
		return nil, err
	}
	mappings, err := wiremock.Parse(text, operator, "")
	if err != nil {
		return nil, err
	}
	return wiremock.NewSet(mappings), nil
}

// hold reports whether a request meets all of them.
func (c conditions) hold(r *wiremock.Request) (bool, error) {
	for _, set := range c {
		if m, err := set.Find(r); m == nil || err != nil {
			return false, err
		}
	}
	return true, nil
}

// requestOf returns a request as mappings and recipes look at it.
func requestOf(d *broker.Delivery) *wiremock.Request {
	target := d.Address
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return &wiremock.Request{
		Method:   http.MethodPost,
		Target:   target,
		Header:   fields{d},
		ReadBody: func() ([]byte, error) { return d.Body, nil },
	}
}

// fields are the properties of a request, by names in any case. As header fields of
// HTTP would, it has a Content-Type.
type fields struct{ d *broker.Delivery }

// Values returns the values of a property.
func (f fields) Values(name string) (values []string) {
	for _, p := range f.d.Properties {
		if strings.EqualFold(p.Name, name) {
			values = append(values, fmt.Sprint(p.Value))
		}
	}
	if values == nil && f.d.ContentType != "" && strings.EqualFold(name, "Content-Type") {
		return []string{f.d.ContentType}
	}
	return values
}

// Get implements scenario.Fields.
func (f fields) Get(name string) string {
	if values := f.Values(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// ClientIP implements scenario.Fields. Who sent a message is not known.
func (fields) ClientIP() string { return "" }
