// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"net/http"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// rendered is a text that may be a template.
type rendered struct {
	text     string
	template *template.Template
}

func (t rendered) of(r *Request) string {
	if t.template == nil {
		return t.text
	}
	return string(t.template.Append(nil, model{r}))
}

// headerOf is a line of the header of a request that is sent elsewhere.
type headerOf struct {
	name  string
	value rendered
}

// headers reads the header of a request that is sent elsewhere.
func (t templating) headers(data []byte) ([]headerOf, error) {
	members, err := orderedMembers(data)
	if err != nil {
		return nil, err
	}
	var list []headerOf
	for _, m := range members {
		values, err := oneOrMore(m.data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		for _, value := range values {
			compiled, err := t.parse(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			if !httpguts.ValidHeaderFieldName(m.name) || compiled == nil && !httpguts.ValidHeaderFieldValue(value) {
				return nil, fmt.Errorf("%s: no header field can be like this", m.name)
			}
			list = append(list, headerOf{http.CanonicalHeaderKey(m.name), rendered{value, compiled}})
		}
	}
	return list, nil
}

// fieldsOf returns a header for a request that was received.
func fieldsOf(list []headerOf, r *Request) []Field {
	if list == nil {
		return nil
	}
	header := make([]Field, len(list))
	for i, h := range list {
		header[i] = Field{h.name, oneLine(h.value.of(r))}
	}
	return header
}
