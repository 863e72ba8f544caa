// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"net/url"
	"strings"
)

// parameter is a name with a value: of a query, a form or a cookie.
type parameter struct{ name, value string }

// Place is where a request has parameters.
type Place int

// The places.
const (
	InQuery Place = iota
	InForm
	InCookie
)

// EachParameter visits the parameters of a place in their order.
func (r *Request) EachParameter(place Place, visit func(name, value string)) {
	r.split()
	list := r.queryParameters
	switch place {
	case InForm:
		list = r.formParameters
	case InCookie:
		list = r.cookieParameters
	case InQuery:
	}
	for _, p := range list() {
		visit(p.name, p.value)
	}
}

func (r *Request) queryParameters() []parameter {
	if !r.parsed.query {
		r.parsed.query = true
		_, query, _ := strings.Cut(r.url, "?")
		r.query = r.parseForm(query, r.fewQuery[:0])
	}
	return r.query
}

func (r *Request) formParameters() []parameter {
	if !r.parsed.form {
		r.parsed.form = true
		for _, kind := range r.header("Content-Type") {
			if strings.HasPrefix(strings.ToLower(kind), "application/x-www-form-urlencoded") {
				r.form = r.parseForm(r.bodyDocument().text, nil)
				break
			}
		}
	}
	return r.form
}

// mostParameters bounds how many parameters or cookies a request may have where
// mappings look at them.
const mostParameters = 10_000

// parseForm reads name=value pairs into room, if that is enough. What is not well
// escaped is taken as it is.
func (r *Request) parseForm(text string, room []parameter) []parameter {
	if text == "" {
		return nil
	}
	parameters := room
	if n := min(1+strings.Count(text, "&"), mostParameters); n > cap(room) {
		parameters = make([]parameter, 0, n)
	}
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		if len(parameters) == mostParameters {
			r.failed = ErrTooMuch
			break
		}
		name, value, _ := strings.Cut(pair, "=")
		parameters = append(parameters, parameter{unescape(name), unescape(value)})
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

func (r *Request) cookieParameters() []parameter {
	if !r.parsed.cookies {
		r.parsed.cookies = true
		for _, line := range r.header("Cookie") {
			for pair := range strings.SplitSeq(line, ";") {
				name, value, ok := strings.Cut(pair, "=")
				if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" {
					continue
				}
				if len(r.cookies) == mostParameters {
					r.failed = ErrTooMuch
					return r.cookies
				}
				r.cookies = append(r.cookies, parameter{name, unquote(value)})
			}
		}
	}
	return r.cookies
}

func unquote(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}
