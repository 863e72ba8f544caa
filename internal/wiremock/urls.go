// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/javaregexp"
)

// urlMatcher is a mapping's condition on the raw URL.
type urlMatcher struct {
	kind     string // the field that says it; empty: any URL
	text     string
	re       *regexp.Regexp // of a pattern
	template *urlTemplate
	prefix   string // what every URL that matches begins with
}

// wholeURL tells whether the query belongs to what is looked at.
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
		return u.re.MatchString(u.subject(r))
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

// url takes the one condition on the URL that a mapping has.
func (f *fields) url() (urlMatcher, error) {
	var u urlMatcher
	for _, kind := range []string{"url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate"} {
		var text string
		given, err := f.into(kind, &text)
		if err != nil {
			return u, err
		}
		if !given {
			continue
		}
		if u.kind != "" {
			return u, f.errorf(kind, "there is %s already", u.kind)
		}
		u.kind, u.text = kind, text
	}
	return u, f.located(u.kind, u.compile())
}

func (u *urlMatcher) compile() (err error) {
	switch u.kind {
	case "urlPattern", "urlPathPattern":
		u.re, err = javaregexp.CompileLines(u.text)
		u.prefix = literalPrefix(u.text)
	case "urlPathTemplate":
		u.template, err = newURLTemplate(u.text)
		u.prefix, _, _ = strings.Cut(u.text, "{")
	}
	return err
}

// literalPrefix gives the plain text that a regular expression begins with.
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
