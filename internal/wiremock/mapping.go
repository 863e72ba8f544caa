// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// Mapping is a stub mapping: which requests it is for and how it responds.
type Mapping struct {
	name     string
	id       string
	file     string
	priority int
	method   string // empty: any
	url      urlMatcher
	named    []condition
	body     []pattern
	parts    []*multipartPattern
	response definition
	step     *step // of a scenario; nil: it is in none
	webhooks []webhook
	stored   stored
	odd      []error // what its author may not have meant
}

// Name identifies the mapping to people: its name, else its id, else its
// condition on the URL.
func (m *Mapping) Name() string {
	if m.url.kind == "" {
		return cmp.Or(m.name, m.id, "any URL")
	}
	return cmp.Or(m.name, m.id, m.url.text)
}

// Fixed returns what is the same for every request, not to be changed; ok is false if a template
// makes the body or the header, or if another server responds.
func (m *Mapping) Fixed() (fixed *Response, ok bool) {
	return &m.response.fixed, m.response.body == nil && m.response.file == nil && m.response.headers == nil && m.response.proxy == nil
}

// HasFixedHeader reports whether no template makes a part of the header.
func (m *Mapping) HasFixedHeader() bool { return m.response.headers == nil }

// Proxies reports whether another server responds to what the mapping matches.
func (m *Mapping) Proxies() bool { return m.response.proxy != nil }

// defaultPriority is that of mappings which have none; 1 is the highest.
const defaultPriority = 5

func parseMapping(data json.RawMessage, from origin) (*Mapping, error) {
	m := &Mapping{file: from.file, priority: defaultPriority}
	f, err := newFields(data)
	if err != nil {
		return nil, err
	}
	if _, err = f.into("name", &m.name); err != nil {
		return nil, err
	}
	both := f.left["id"] != nil && f.left["uuid"] != nil
	for _, field := range []string{"id", "uuid"} {
		if _, err = f.into(field, &m.id); err != nil {
			return nil, err
		}
	}
	if both {
		m.id = cmp.Or(IDOf(data), m.id)
	}
	m.stored.source = data
	if err := m.parse(f, from); err != nil {
		return nil, m.at(err)
	}
	m.odd = *f.odd
	return m, nil
}

// located is the error of a request for which the mapping was looked at.
func (m *Mapping) located(err error) error { return fmt.Errorf("mapping '%s': %w", m.Name(), err) }

// at puts the name of the mapping before an error, if it has one.
func (m *Mapping) at(err error) error {
	if name := cmp.Or(m.name, m.id); name != "" {
		return fmt.Errorf("mapping '%s': %w", name, err)
	}
	return err
}

func (m *Mapping) parse(f *fields, from origin) error {
	// These say something about the mapping, not about requests or responses.
	for _, field := range []string{"insertionIndex", "$schema"} {
		f.take(field)
	}
	m.stored.metadata, _ = f.take("metadata")
	if _, err := f.into("persistent", &m.stored.persistent); err != nil {
		return err
	}
	if _, err := f.into("priority", &m.priority); err != nil {
		return err
	}
	if err := m.parseRequest(f); err != nil {
		return err
	}
	data, given := f.take("response")
	if !given {
		data = json.RawMessage("{}")
	}
	var err error
	if m.response, err = f.parseDefinition(data, from); err != nil {
		return err
	}
	if m.step, err = f.parseStep(); err != nil {
		return err
	}
	if m.webhooks, err = f.parseWebhooks(); err != nil {
		return err
	}
	return f.done()
}

func (m *Mapping) parseRequest(f *fields) error {
	data, given := f.take("request")
	if !given {
		return nil
	}
	r, err := f.inside("request", data)
	if err != nil {
		return err
	}
	if _, err := r.into("method", &m.method); err != nil {
		return err
	}
	if m.method == "ANY" {
		m.method = ""
	}
	if m.url, err = r.url(); err != nil {
		return err
	}
	if m.named, err = r.named(m.url); err != nil {
		return err
	}
	if list, given := r.take("bodyPatterns"); given {
		if m.body, err = r.patternsIn("bodyPatterns", list); err != nil {
			return err
		}
	}
	if m.parts, err = r.multipartPatterns(); err != nil {
		return err
	}
	return r.done()
}

// named takes every condition on something that has a name.
func (f *fields) named(u urlMatcher) ([]condition, error) {
	all, err := f.pathParameters(u)
	if err != nil {
		return nil, err
	}
	for _, group := range []struct {
		field  string
		values source
		list   func(*Request) []parameter
	}{
		{"queryParameters", queryValues, (*Request).queryParameters},
		{"headers", headerValues, nil},
		{"formParameters", formValues, (*Request).formParameters},
	} {
		list, err := f.conditions(group.field, group.values, group.list)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	cookies, err := f.cookies()
	if err != nil {
		return nil, err
	}
	credentials, err := f.basicAuth()
	if err != nil {
		return nil, err
	}
	peers, err := f.peers()
	if err != nil {
		return nil, err
	}
	custom, err := f.customMatcher()
	return slices.Concat(all, cookies, credentials, peers, custom), err
}

// customMatcher takes the name of a condition in Java. Without it WireMock has no
// request match.
func (f *fields) customMatcher() ([]condition, error) {
	data, given := f.take("customMatcher")
	if !given {
		return nil, nil
	}
	custom, err := f.inside("customMatcher", data)
	if err != nil {
		return nil, err
	}
	name := ""
	if _, err := custom.into("name", &name); err != nil {
		return nil, err
	}
	custom.take("parameters")
	f.warnf("customMatcher", "'%s' is an extension of WireMock's: no request matches here", name)
	nowhere := func(*Request, string, visitor) {}
	return []condition{{path: custom.path, name: name, values: nowhere, one: unmet("the extension '" + name + "'")}}, custom.done()
}

func (f *fields) basicAuth() ([]condition, error) {
	field := "basicAuth"
	data, given := f.take(field)
	if !given {
		field = "basicAuthCredentials" // as WireMock itself writes it
		if data, given = f.take(field); !given {
			return nil, nil
		}
	}
	login, err := f.inside(field, data)
	if err != nil {
		return nil, err
	}
	var name, password string
	if _, err := login.into("username", &name); err != nil {
		return nil, err
	}
	if _, err := login.into("password", &password); err != nil {
		return nil, err
	}
	if err := login.done(); err != nil {
		return nil, err
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
	return []condition{{
		path: f.at("basicAuth"), name: "Authorization", values: headerValues, one: basicAuth(encoded),
	}}, nil
}

func (m *Mapping) matchesMethod(method string) bool {
	return m.method == "" || m.method == method || m.method == "GET_OR_HEAD" && (method == "GET" || method == "HEAD")
}

// matches checks the cheap conditions first and the body last.
func (m *Mapping) matches(r *Request) bool {
	if !m.matchesMethod(r.Method) || !m.url.matches(r) {
		return false
	}
	for i := range m.named {
		if !m.named[i].matches(r) {
			return false
		}
	}
	for _, p := range m.body {
		if !r.meets(p, r.bodyValue()) {
			return false
		}
	}
	for _, p := range m.parts {
		if !p.matches(r) {
			return false
		}
	}
	return true
}

// bodyValue returns the body for patterns; one that is empty is absent.
func (r *Request) bodyValue() value {
	d := r.bodyDocument()
	return value{text: d.text, present: d.text != "", body: d}
}
