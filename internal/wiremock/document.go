// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import "github.com/caddy-rehearsal/rehearsal/internal/wiremock/jsonpath"

// document is a text that is parsed as JSON at most once.
type document struct {
	text    string
	parsed  bool
	isJSON  bool
	data    any
	checked bool
	valid   bool
}

// isValid tells whether the text is JSON, without parsing it.
func (d *document) isValid() bool {
	if !d.checked {
		d.checked = true
		d.valid = jsonpath.Valid(d.text)
	}
	return d.valid
}

// json gives the text parsed; false if it is no JSON.
func (d *document) json() (any, bool) {
	if !d.parsed {
		d.parsed = true
		d.data, d.isJSON = jsonpath.Parse(d.text)
	}
	return d.data, d.isJSON
}
