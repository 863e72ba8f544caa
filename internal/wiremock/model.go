// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// All returns everything that a request has of a kind, by name.
func (m model) All(kind string) *eval.Object {
	all := new(eval.Object)
	switch kind {
	case "query":
		m.collect(all, m.r.queryParameters())
	case "formParameters":
		m.collect(all, m.r.formParameters())
	case "cookies":
		m.collect(all, m.r.cookieParameters())
	case "headers":
		m.header(all, m.fields())
	}
	return all
}

// fields returns the header with Host, wherever the server keeps it.
func (m model) fields() http.Header {
	if server, ok := m.r.Server.(interface {
		EachField(visit func(name, value string))
	}); ok {
		header := make(http.Header)
		server.EachField(func(name, value string) {
			if m.r.budget.Spend(8) {
				header.Add(name, value)
			}
		})
		return header
	}
	header, _ := m.r.Header.(http.Header)
	header = header.Clone()
	if header != nil && m.r.Host != "" {
		header.Set("Host", m.r.Host)
	}
	return header
}

func (m model) collect(all *eval.Object, parameters []parameter) {
	for _, p := range parameters {
		if !m.r.budget.Spend(8) {
			return
		}
		known, _ := all.Get(p.name)
		values, _ := known.([]string)
		all.Set(p.name, append(values, p.value))
	}
}

func (m model) header(all *eval.Object, header map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if !m.r.budget.Spend(8 * (1 + len(header[name]))) {
			return
		}
		if len(header[name]) > 0 {
			all.Set(name, header[name])
		}
	}
}

// Part returns a part of a multipart body by its name.
func (m model) Part(name string) (*eval.Object, bool) {
	for _, p := range m.bodyParts() {
		if p.name == name {
			return m.partOf(p), true
		}
	}
	return nil, false
}

// Parts returns the parts of a multipart body by their names; none if there is no
// such body.
func (m model) Parts() *eval.Object {
	if _, is := m.r.isMultipart(); !is {
		return nil
	}
	all := new(eval.Object)
	for _, p := range m.bodyParts() {
		all.Set(p.name, m.partOf(p))
	}
	return all
}

func (m model) bodyParts() []part {
	m.body()
	m.r.budget.Read(len(m.r.body.raw))
	return m.r.bodyParts()
}

func (m model) partOf(p part) *eval.Object {
	if !m.r.budget.Spend(16 + 2*len(p.body)) {
		return new(eval.Object)
	}
	headers := new(eval.Object)
	m.header(headers, lowered(p.header))
	return &eval.Object{Members: []eval.Member{
		{Name: "name", Value: p.name},
		{Name: "headers", Value: headers},
		{Name: "body", Value: p.body},
		{Name: "bodyAsBase64", Value: base64.StdEncoding.EncodeToString([]byte(p.body))},
		{Name: "binary", Value: false},
	}}
}

// lowered returns a header by its names in both of the ways in which they are
// written.
func lowered(header textproto.MIMEHeader) map[string][]string {
	both := maps.Clone(map[string][]string(header))
	for name, values := range header {
		both[strings.ToLower(name)] = values
	}
	return both
}
