// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package template compiles WireMock's response templates, Handlebars with
// helpers of its own, so that a request costs no parsing: every path, helper
// and JSONPath is resolved when a mapping is loaded, and what is not known is
// an error then.
package template

import (
	"math/rand/v2"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// Request is what a template can ask of the request that is answered.
type Request interface {
	Method() string
	// URL is the raw target: path and query.
	URL() string
	// Path is the raw path.
	Path() string
	Scheme() string
	// Host is the Host field: name and, if given, port.
	Host() string
	ClientIP() string
	// Query returns the decoded values of a parameter.
	Query(name string) []string
	Header(name string) []string
	Cookie(name string) []string
	// PathParameter is the part of the path at a template's {name}.
	PathParameter(name string) string
	Body() string
	// JSON is the body parsed; false if it is no JSON.
	JSON() (any, bool)
	// Random is where random values are drawn from.
	Random() rand.Source
	// Budget is what rendering is drawn from. What was rendered is not whole if
	// it is exceeded.
	Budget() *eval.Budget
}

// Template is a compiled template. Any number of goroutines may render it.
type Template struct {
	nodes []node
}

// Parse compiles a template. Parameters are a mapping's transformer
// parameters, which a template reads as `parameters.name`. The error names the
// expression that is not understood.
func Parse(text string, parameters *eval.Object) (*Template, error) {
	p := &parser{rest: text, parameters: parameters}
	nodes, err := p.nodes("")
	if err != nil {
		return nil, err
	}
	return &Template{nodes}, nil
}

// IsTemplate reports whether there is anything to render in a text.
func IsTemplate(text string) bool { return strings.Contains(text, "{{") }

// Append renders the template for a request to the end of a buffer. It stops
// where the budget of the request ends.
func (t *Template) Append(buffer []byte, r Request) []byte {
	return render(buffer, t.nodes, &scope{request: r, budget: r.Budget()})
}

// scope is what names mean at one place of a template.
type scope struct {
	request Request
	budget  *eval.Budget
	this    any
	outer   *scope
	local   string // the name of this in a block
	key     any    // index or name of the element of a loop
	first   bool
	last    bool
}

// node is a piece of a template.
type node interface {
	render(buffer []byte, s *scope) []byte
}

func render(buffer []byte, nodes []node, s *scope) []byte {
	for _, n := range nodes {
		if s.budget.Exceeded() {
			break
		}
		buffer = n.render(buffer, s)
	}
	return buffer
}

type text string

func (t text) render(buffer []byte, s *scope) []byte {
	return appendBounded(buffer, string(t), s.budget)
}

// output writes the value of an expression.
type output struct{ value evaluator }

func (o output) render(buffer []byte, s *scope) []byte {
	return appendText(buffer, o.value(s), s.budget)
}
