// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"fmt"
	"strings"
)

// urlTemplate is a path with names in braces: /contacts/{id}.
type urlTemplate struct{ segments []string }

func newURLTemplate(text string) (*urlTemplate, error) {
	t := &urlTemplate{strings.Split(text, "/")}
	for _, segment := range t.segments {
		if strings.ContainsAny(segment, "{}") && !isName(segment) {
			return nil, fmt.Errorf("'%s' is neither plain text nor a name in braces", segment)
		}
	}
	return t, nil
}

func isName(segment string) bool {
	return len(segment) > 2 && segment[0] == '{' && strings.IndexByte(segment, '}') == len(segment)-1 &&
		!strings.Contains(segment[1:], "{")
}

func (t *urlTemplate) matches(path string) bool {
	for i, segment := range t.segments {
		part, rest, more := strings.Cut(path, "/")
		if more == (i == len(t.segments)-1) || segment != part && (part == "" || !isName(segment)) {
			return false
		}
		path = rest
	}
	return true
}

// parameter gives the part of a path that matched at a name.
func (t *urlTemplate) parameter(path, name string) string {
	for _, segment := range t.segments {
		part, rest, _ := strings.Cut(path, "/")
		if isName(segment) && segment[1:len(segment)-1] == name {
			return part
		}
		path = rest
	}
	return ""
}

// pathParameters reads the conditions on the named parts of a urlPathTemplate.
func (f *fields) pathParameters(u urlMatcher) ([]condition, error) {
	data, given := f.take("pathParameters")
	if !given {
		return nil, nil
	}
	if u.template == nil {
		return nil, f.located("pathParameters", errors.New("it needs a urlPathTemplate"))
	}
	return parseConditions(f.at("pathParameters"), data, func(r *Request, name string, visit visitor) {
		if part := u.template.parameter(r.path, name); part != "" {
			visit(part)
		}
	})
}
