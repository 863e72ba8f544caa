// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"math/rand/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// model is a request as templates see it.
type model struct{ r *Request }

func (m model) Method() string              { return m.r.Method }
func (m model) URL() string                 { return m.r.url }
func (m model) Path() string                { return m.r.path }
func (m model) Scheme() string              { return m.r.Scheme }
func (m model) Host() string                { return m.r.Host }
func (m model) ClientIP() string            { return m.r.ClientIP }
func (m model) Header(name string) []string { return m.r.header(name) }
func (m model) Body() string                { return m.r.bodyDocument().text }
func (m model) JSON() (any, bool)           { return m.r.bodyDocument().json() }
func (m model) Random() rand.Source         { return m.r.random() }
func (m model) Query(name string) []string  { return named(m.r.queryParameters(), name) }
func (m model) Cookie(name string) []string { return named(m.r.cookieParameters(), name) }

func (m model) PathParameter(name string) string {
	if m.r.template == nil {
		return ""
	}
	return m.r.template.parameter(m.r.path, name)
}

func named(parameters []parameter, name string) []string {
	var values []string
	for _, p := range parameters {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	return values
}

// Interface guard
var _ template.Request = model{}
