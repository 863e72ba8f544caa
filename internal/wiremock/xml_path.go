// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// matchesXPath asks whether an expression leads to something, or whether one of
// the nodes that it leads to meets a condition.
type matchesXPath struct {
	path *eval.XPath
	then pattern // nil: that there is something is enough
}

func (p *matchesXPath) String() string {
	if p.then == nil {
		return "matchesXPath " + p.path.String()
	}
	return "matchesXPath " + p.path.String() + " " + p.then.String()
}

func (p *matchesXPath) matches(v value) bool {
	document, ok := v.xml()
	if !ok || document.Unbound {
		return false
	}
	nodes, err := p.path.Find(document, v.budget)
	if err != nil || p.then == nil {
		return err == nil && len(nodes) > 0
	}
	for _, n := range nodes {
		if p.then.matches(v.part(string(eval.AppendXML(nil, n, true, v.budget)))) {
			return true
		}
		if v.budget.Exceeded() {
			return false
		}
	}
	return false
}

// xml returns a text as XML; false if it is none.
func (v value) xml() (*eval.XML, bool) {
	if !v.present || !strings.HasPrefix(strings.TrimSpace(v.text), "<") {
		return nil, false
	}
	if v.body == nil {
		document, err := eval.ParseXML(v.text, v.budget)
		return document, err == nil
	}
	if v.body.xml == nil {
		document, err := eval.ParseXML(v.text, v.budget)
		if v.budget.Exceeded() {
			return nil, false
		}
		v.body.xml = &xmlBody{document, err == nil}
	}
	return v.body.xml.document, v.body.xml.isXML
}

// xmlBody is a body that was read as XML.
type xmlBody struct {
	document *eval.XML
	isXML    bool
}

func parseMatchesXPath(f *fields, data json.RawMessage) (pattern, error) {
	var namespaces map[string]string
	if _, err := f.into("xPathNamespaces", &namespaces); err != nil {
		return nil, err
	}
	var expression string
	if json.Unmarshal(data, &expression) == nil {
		path, err := eval.CompileXPath(expression, namespaces)
		if errors.Is(err, eval.ErrNoXPath) {
			return f.unmet("matchesXPath", expression, err), nil
		}
		return &matchesXPath{path: path}, err
	}
	inner, err := f.inside("matchesXPath", data)
	if err != nil {
		return nil, err
	}
	if given, err := inner.into("expression", &expression); err != nil || !given {
		return nil, errors.Join(err, errors.New("the expression is missing"))
	}
	path, err := eval.CompileXPath(expression, namespaces)
	if err != nil && !errors.Is(err, eval.ErrNoXPath) {
		return nil, err
	}
	then, failed := inner.pattern()
	if failed == nil && then == nil {
		failed = inner.done()
	}
	if err != nil {
		return f.unmet("matchesXPath", expression, err), failed
	}
	return &matchesXPath{path, then}, failed
}
