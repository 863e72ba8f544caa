// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"net/url"
	"strings"
)

func (r *Request) queryParameters() []parameter {
	if !r.parsed.query {
		r.parsed.query = true
		_, query, _ := strings.Cut(r.url, "?")
		r.query = parseForm(query)
	}
	return r.query
}

func (r *Request) formParameters() []parameter {
	if !r.parsed.form {
		r.parsed.form = true
		for _, kind := range r.header("Content-Type") {
			if strings.HasPrefix(strings.ToLower(kind), "application/x-www-form-urlencoded") {
				r.form = parseForm(r.bodyDocument().text)
			}
		}
	}
	return r.form
}

// parseForm reads name=value pairs. What is not well escaped is taken as it is.
func parseForm(text string) []parameter {
	if text == "" {
		return nil
	}
	parameters := make([]parameter, 0, 1+strings.Count(text, "&"))
	for pair := range strings.SplitSeq(text, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			parameters = append(parameters, parameter{unescape(name), unescape(value)})
		}
	}
	return parameters
}

func unescape(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
