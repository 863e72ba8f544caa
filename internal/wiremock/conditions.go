// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// condition is what a mapping asks of a named value of the request, of which
// there may be several: a header field, a parameter, a cookie.
type condition struct {
	path   string // where it stands in the mapping
	name   string
	values source
	list   func(r *Request) []parameter // what values goes through, of parameters; nil: of others
	one    pattern                      // one of the values has to meet it
	each   []pattern                    // or: each is met by one of the values, as with WireMock perhaps the same one
	exact  bool                         // and there are as many values as patterns
}

// source goes through the values of a name until visit returns false.
type source func(r *Request, name string, visit visitor)

type visitor func(text string) bool

func (c *condition) matches(r *Request) bool {
	if c.one == nil {
		return c.matchesEach(r)
	}
	if c.list != nil {
		return c.matchesParameter(r)
	}
	found, matched := false, false
	c.values(r, c.name, func(text string) bool {
		found, matched = true, r.meets(c.one, present(text))
		return !matched
	})
	return matched || !found && r.meets(c.one, value{})
}

// matchesParameter is matches for what requests have most, without what a visitor costs.
func (c *condition) matchesParameter(r *Request) bool {
	found := false
	for _, p := range c.list(r) {
		if p.name != c.name {
			continue
		}
		if found = true; r.meets(c.one, present(p.value)) {
			return true
		}
	}
	return !found && r.meets(c.one, value{})
}

func (c *condition) matchesEach(r *Request) bool {
	var texts []string
	c.values(r, c.name, func(text string) bool {
		texts = append(texts, text)
		return true
	})
	if c.exact && len(texts) != len(c.each) {
		return false
	}
	for _, p := range c.each {
		if !slices.ContainsFunc(texts, func(text string) bool { return r.meets(p, present(text)) }) {
			return false
		}
	}
	return true
}

// found lists the values that the request has, for people.
func (c *condition) found(r *Request) string {
	var texts []string
	c.values(r, c.name, func(text string) bool {
		texts = append(texts, "'"+text+"'")
		return true
	})
	if len(texts) == 0 {
		return "absent"
	}
	return strings.Join(texts, ", ")
}

func (c *condition) String() string {
	if c.one != nil {
		return c.one.String()
	}
	if c.exact {
		return "exactly " + joined(c.each, ", ")
	}
	return "including " + joined(c.each, ", ")
}

func headerValues(r *Request, name string, visit visitor) {
	for _, text := range r.header(name) {
		if !visit(text) {
			return
		}
	}
}

func queryValues(r *Request, name string, visit visitor) {
	visitNamed(r.queryParameters(), name, visit)
}

func formValues(r *Request, name string, visit visitor) {
	visitNamed(r.formParameters(), name, visit)
}

func visitNamed(parameters []parameter, name string, visit visitor) {
	for _, p := range parameters {
		if p.name == name && !visit(p.value) {
			return
		}
	}
}

// conditions takes a field that has conditions by name.
func (f *fields) conditions(field string, values source, list func(*Request) []parameter) ([]condition, error) {
	data, given := f.take(field)
	if !given {
		return nil, nil
	}
	all, err := f.conditionsIn(field, data, values)
	for i := range all {
		all[i].list = list
	}
	return all, err
}

func (f *fields) conditionsIn(field string, data json.RawMessage, values source) ([]condition, error) {
	names, err := f.inside(field, data)
	if err != nil {
		return nil, err
	}
	var list []condition
	for _, name := range slices.Sorted(maps.Keys(names.left)) {
		c := condition{path: names.at(name), name: name, values: values}
		if err := c.parse(names, names.left[name]); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (c *condition) parse(names *fields, data json.RawMessage) (err error) {
	f, err := names.inside(c.name, data)
	if err != nil {
		return err
	}
	for _, field := range []string{"hasExactly", "includes"} {
		if list, given := f.take(field); given {
			c.exact = field == "hasExactly"
			if c.each, err = f.patternsIn(field, list); err != nil {
				return err
			}
			if len(c.each) == 0 {
				return f.located(field, errors.New("the list is empty"))
			}
			return f.done()
		}
	}
	c.one, err = names.patternIn(c.name, data)
	return err
}

// peers takes the conditions on who asks whom: the client's address, the host
// that it means, the port and the scheme.
func (f *fields) peers() ([]condition, error) {
	var list []condition
	for _, peer := range []struct {
		field string
		of    func(*Request) string
		parse func(f *fields, name string, data json.RawMessage) (pattern, error)
	}{
		{"host", hostOf, (*fields).patternIn},
		{"clientIp", (*Request).Client, (*fields).patternIn},
		{"port", portOf, parsePort},
		{"scheme", func(r *Request) string { return r.Scheme }, parsePlain},
	} {
		data, given := f.take(peer.field)
		if !given {
			continue
		}
		one, err := peer.parse(f, peer.field, data)
		if err != nil {
			return nil, f.located(peer.field, err)
		}
		values := func(r *Request, _ string, visit visitor) { visit(peer.of(r)) }
		list = append(list, condition{path: f.at(peer.field), name: peer.field, values: values, one: one})
	}
	return list, nil
}

// parsePlain reads a text or a number that has to be equal.
func parsePlain(_ *fields, _ string, data json.RawMessage) (pattern, error) {
	return parseEqualTo(new(fields), data)
}

// parsePort reads a number, which may be written as a text.
func parsePort(_ *fields, _ string, data json.RawMessage) (pattern, error) {
	port, err := strconv.ParseUint(strings.Trim(string(data), `"`), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%s is not the number of a port", data)
	}
	return equalTo{text: strconv.FormatUint(port, 10)}, nil
}

func hostOf(r *Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return r.Host
}

// portOf returns the port that the client means; without one it is the scheme's.
func portOf(r *Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		if n, err := strconv.Atoi(port); err == nil {
			return strconv.Itoa(n)
		}
	}
	if r.Scheme == "https" {
		return "443"
	}
	return "80"
}

// ofCookie is a condition on a cookie. With WireMock, nothing but `absent` is
// met by a cookie that is not there: not even `doesNotContain`.
type ofCookie struct{ pattern }

func (p ofCookie) matches(v value) bool {
	_, isAbsent := p.pattern.(absent)
	return (v.present || isAbsent) && p.pattern.matches(v)
}

// cookies takes the conditions on cookies.
func (f *fields) cookies() ([]condition, error) {
	list, err := f.conditions("cookies", cookieValues, (*Request).cookieParameters)
	for i := range list {
		if list[i].one != nil {
			list[i].one = ofCookie{list[i].one}
		}
	}
	return list, err
}

func cookieValues(r *Request, name string, visit visitor) {
	visitNamed(r.cookieParameters(), name, visit)
}
