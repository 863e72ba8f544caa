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
	"sync"

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
	// First returns the first of the values that a name has in the `query`, the
	// `headers`, the `cookies` or the `formParameters`; empty if it has none.
	First(kind, name string) string
	Cookie(name string) []string
	// PathParameter is the part of the path at a template's {name}.
	PathParameter(name string) string
	// Form returns the decoded values of a field of a form in the body.
	Form(name string) []string
	// All returns everything that has a name, in texts or lists of texts: the
	// `query`, the `headers`, the `cookies` or the `formParameters`.
	All(kind string) *eval.Object
	// Part returns a part of a multipart body: an object with its `name`, its
	// `headers`, its `body` and `bodyAsBase64`, and whether it is `binary`.
	Part(name string) (part *eval.Object, ok bool)
	// Parts returns the parts of a multipart body by their names; none if there is
	// no such body.
	Parts() *eval.Object
	Body() string
	// Raw is the body as it was sent, in whatever charset.
	Raw() string
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
	nodes   []node
	assigns bool
	unknown []string
	ignored []string
}

// Parse compiles a template. Parameters are a mapping's transformer
// parameters, which a template reads as `parameters.name`. The error names the
// expression that is not understood.
func Parse(text string, parameters *eval.Object) (*Template, error) {
	p := &parser{rest: text, parameters: parameters, names: &names{assigned: make(map[string]bool)}, length: len(text)}
	p.first, p.last = strings.Index(text, "{{"), strings.LastIndex(text, "}}")
	nodes, err := p.nodes("")
	if err != nil {
		return nil, err
	}
	return &Template{nodes, len(p.names.assigned) > 0, p.names.unknown(), p.names.ignored}, nil
}

// Unknown returns the names for which nothing is ever written, since nothing has
// them.
func (t *Template) Unknown() []string { return t.unknown }

// Ignored returns what helpers are given and do not look at: the helper and the
// argument.
func (t *Template) Ignored() []string { return t.ignored }

// IsTemplate reports whether there is anything to render in a text.
func IsTemplate(text string) bool { return strings.Contains(text, "{{") }

// Append renders the template for a request to the end of a buffer. It stops
// where the budget of the request ends.
func (t *Template) Append(buffer []byte, r Request) []byte {
	s := scopes.Get().(*scope)
	*s = scope{request: r, budget: r.Budget()}
	if t.assigns {
		s.variables = make(map[string]any)
	}
	buffer = render(buffer, t.nodes, s)
	*s = scope{}
	scopes.Put(s)
	return buffer
}

// scopes are those that nothing is rendered in. They are used again, since each
// would be on the heap.
var scopes = sync.Pool{New: func() any { return new(scope) }}

// scope is what names mean at one place of a template.
type scope struct {
	request Request
	budget  *eval.Budget
	this    any
	outer   *scope
	local   string // the name of this in a block
	second  string // the name of key
	key     any    // index or name of the element of a loop
	index   int
	first   bool
	last    bool

	variables map[string]any // of the whole template
}

// within returns a scope inside of s.
func (s *scope) within(this any, local string) *scope {
	return &scope{request: s.request, budget: s.budget, this: this, outer: s, local: local, variables: s.variables}
}

// assign sets a variable.
func (s *scope) assign(name string, value any) {
	if s.variables != nil {
		s.variables[name] = value
	}
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

// plainText writes a text of the request, of which no value needs to be made.
type plainText struct{ of func(r Request) string }

func (p plainText) render(buffer []byte, s *scope) []byte {
	return appendBounded(buffer, p.of(s.request), s.budget)
}
