// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

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
		if !p.matches(r.bodyValue()) {
			return false
		}
	}
	return true
}

// bodyValue gives the body to patterns; one that is empty is absent.
func (r *Request) bodyValue() value {
	d := r.bodyDocument()
	return value{text: d.text, present: d.text != "", body: d}
}
