// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// urlMatcher is a mapping's condition on the raw URL.
type urlMatcher struct {
	kind     string // its field in the mapping; empty: any URL
	text     string
	re       *eval.Regexp // of a pattern
	template *urlTemplate
	prefix   string // what every URL that matches begins with
}

// wholeURL reports whether the query belongs to what is looked at.
func (u *urlMatcher) wholeURL() bool { return u.kind == "url" || u.kind == "urlPattern" }

func (u *urlMatcher) subject(r *Request) string {
	if u.wholeURL() {
		return r.url
	}
	return r.path
}

func (u *urlMatcher) matches(r *Request) bool {
	switch {
	case u.re != nil:
		return r.matchesRegexp(u.re, u.subject(r))
	case u.template != nil:
		return u.template.matches(r.path)
	}
	return u.kind == "" || u.text == u.subject(r)
}

func (u *urlMatcher) String() string {
	if u.kind == "" {
		return "any URL"
	}
	return u.kind + " " + u.text
}

// url takes the condition on the URL: the first, if a mapping has several.
func (f *fields) url() (urlMatcher, error) {
	var u urlMatcher
	for _, kind := range []string{"url", "urlPattern", "urlPath", "urlPathPattern", "urlPathTemplate"} { // WireMock takes the first, too
		var text string
		given, err := f.into(kind, &text)
		if err != nil {
			return u, err
		}
		if !given {
			continue
		}
		if u.kind != "" {
			f.warnf(kind, "is not looked at, since there is %s", u.kind)
			continue
		}
		u.kind, u.text = kind, text
	}
	return u, f.located(u.kind, u.compile())
}

func (u *urlMatcher) compile() (err error) {
	switch u.kind {
	case "urlPattern", "urlPathPattern":
		u.re, err = eval.CompileLines(u.text)
		u.prefix = literalPrefix(u.text)
	case "urlPathTemplate":
		u.template, err = newURLTemplate(u.text)
	}
	return err
}

// literalPrefix returns the plain text that a regular expression begins with.
func literalPrefix(source string) string {
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return ""
	}
	tree = tree.Simplify()
	var prefix strings.Builder
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	for _, part := range parts {
		switch {
		case part.Op == syntax.OpBeginText || part.Op == syntax.OpBeginLine:
		case part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0:
			prefix.WriteString(string(part.Rune))
		default:
			return prefix.String()
		}
	}
	return prefix.String()
}

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

// parameter returns the part of a path that matched at a name.
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
	return f.conditionsIn("pathParameters", data, func(r *Request, name string, visit visitor) {
		if part := u.template.parameter(r.path, name); part != "" {
			visit(part)
		}
	})
}
