// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/base64"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// path compiles a name like request.query.id, parameters.word, this or ../x.
func (p *parser) path(word string) (evaluator, error) {
	if rest, ok := strings.CutPrefix(word, "../"); ok {
		return p.outerPath(rest)
	}
	if rest, ok := strings.CutPrefix(word, "@../"); ok {
		return p.outerPath("@" + rest)
	}
	if rest, ok := strings.CutPrefix(word, "@"); ok {
		return loopVariable(rest)
	}
	keys := pathKeys(strings.TrimPrefix(word, "./"))
	if len(keys) == 0 {
		return thisValue, nil
	}
	switch root, rest := keys[0], keys[1:]; {
	case p.isLocal(root):
		return localPath(root, rest), nil
	case root == "this":
		return member(thisValue, rest), nil
	case root == "request", root == "originalRequest": // the latter in webhooks
		value, err := requestPath(rest)
		if value == nil && err == nil { // which WireMock writes nothing for
			p.names.used = append(p.names.used, word)
			value = constant(nil)
		}
		return value, err
	case root == "parameters":
		return constant(lookup(p.parameters, rest)), nil
	case len(root) == 0:
		return nil, fmt.Errorf("'%s' is no name", word)
	case strings.ContainsAny(root[:1], `'"`):
		return nil, fmt.Errorf("%s is a text: it stands for itself only as an argument", word)
	}
	return p.named(keys), nil
}

func (p *parser) outerPath(rest string) (evaluator, error) {
	if p.loops == 0 {
		p.names.used = append(p.names.used, "../"+rest)
		return constant(nil), nil
	}
	inner := *p
	inner.loops--
	value, err := inner.path(rest)
	return func(s *scope) any {
		if s.outer == nil {
			return nil
		}
		return value(s.outer)
	}, err
}

func loopVariable(name string) (evaluator, error) {
	switch name {
	case "index", "key":
		return func(s *scope) any { return s.key }, nil
	case "first":
		return func(s *scope) any { return wordIf(s.first, name) }, nil
	case "last":
		return func(s *scope) any { return wordIf(s.last, name) }, nil
	case "even", "odd":
		return func(s *scope) any { return wordIf(s.index%2 == 0 == (name == "even"), name) }, nil
	}
	return nil, fmt.Errorf("'@%s' is not supported", name)
}

// wordIf returns what WireMock has for such a variable: its own name or nothing.
func wordIf(is bool, name string) any {
	if is {
		return name
	}
	return ""
}

// pathKeys cuts a path at its dots; [what is in brackets] stays together.
func pathKeys(path string) []string {
	var keys []string
	for path != "" && path != "." {
		path = strings.TrimPrefix(path, ".")
		if inner, ok := strings.CutPrefix(path, "["); ok {
			key, rest, _ := strings.Cut(inner, "]")
			keys, path = append(keys, key), rest
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		keys, path = append(keys, path[:end]), path[end:]
	}
	return keys
}

func thisValue(s *scope) any { return s.this }

func localPath(name string, keys []string) evaluator {
	return func(s *scope) any {
		for s != nil && s.local != name && s.second != name {
			s = s.outer
		}
		switch {
		case s == nil:
			return nil
		case s.local == name:
			return lookup(s.this, keys)
		}
		return lookup(s.key, keys)
	}
}

func member(of evaluator, keys []string) evaluator {
	if len(keys) == 0 {
		return of
	}
	return func(s *scope) any { return lookup(of(s), keys) }
}

// lookup follows keys into a value; what is not there is nil.
func lookup(value any, keys []string) any {
	for _, key := range keys {
		if a, ok := value.(attributes); ok {
			value = a.get(key)
			continue
		}
		value = inner(plain(value), key)
	}
	return value
}

// inner returns what a value has of a name or at a place.
func inner(value any, key string) any {
	switch v := value.(type) {
	case *eval.Object:
		member, _ := v.Get(key)
		return member
	case []string:
		i, fromLast, ok := textIndex(key)
		if fromLast {
			i = len(v) - 1 - i
		}
		if !ok || i < 0 || i >= len(v) {
			return nil
		}
		return v[i]
	case nodes:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
		if len(v) == 1 {
			return inner(v[0], key)
		}
		return nil
	case *eval.XML:
		return innerXML(v, key)
	}
	list, _ := elementsOf(value)
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// requestPath compiles what comes after `request.`.
func requestPath(keys []string) (evaluator, error) {
	if len(keys) > 0 && keys[0] == "requestLine" {
		keys = keys[1:]
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("request is not a value: name a part of it")
	}
	if len(keys) == 1 {
		if value, ok := requestValues[keys[0]]; ok {
			return value, nil
		}
	}
	if list, ok := requestLists[keys[0]]; ok && len(keys) >= 2 {
		name := keys[1]
		return texts(func(s *scope) []string { return s.values(list, name) }, keys[2:])
	}
	if (keys[0] == "path" || keys[0] == "pathSegments") && len(keys) == 2 {
		return pathPart(keys[1]), nil
	}
	if _, ok := requestLists[keys[0]]; ok {
		return func(s *scope) any { return s.request.All(keys[0]) }, nil
	}
	if keys[0] == "parts" {
		return requestPart(keys[1:]), nil
	}
	return nil, nil
}

// plainText compiles a path to what the request has as a text, which is what most
// templates write; nil if it leads to anything else.
func (p *parser) plainText(path string) func(r Request) string {
	if strings.ContainsAny(path, " \t\r\n'\"()/@") || p.isLocal("request") {
		return nil
	}
	keys := pathKeys(path)
	switch {
	case len(keys) < 2 || keys[0] != "request":
	case len(keys) == 2:
		return requestTexts[keys[1]]
	case len(keys) == 3 && requestLists[keys[1]] != nil:
		kind, name := keys[1], keys[2]
		return func(r Request) string { return r.First(kind, name) }
	}
	return nil
}

var requestTexts = map[string]func(Request) string{
	"method":       Request.Method,
	"url":          Request.URL,
	"path":         Request.Path,
	"pathSegments": Request.Path,
	"scheme":       Request.Scheme,
	"clientIp":     Request.ClientIP,
	"body":         Request.Body,
}

// values returns what the request has of a name.
func (s *scope) values(list func(r Request, name string) []string, name string) []string {
	values := list(s.request, name)
	if !s.budget.Spend(8 * (1 + len(values))) {
		return nil
	}
	return values
}

// requestPart compiles what comes after `request.parts`.
func requestPart(keys []string) evaluator {
	if len(keys) == 0 {
		return func(s *scope) any { return s.request.Parts() }
	}
	return func(s *scope) any {
		part, ok := s.request.Part(keys[0])
		if !ok {
			return nil
		}
		return lookup(part, keys[1:])
	}
}

// pathSegments returns the path, which is a list of its parts that are not empty.
func pathSegments(s *scope) any {
	path := s.request.Path()
	if !s.budget.Spend(4 * (1 + strings.Count(path, "/"))) {
		return nil
	}
	return segments{path, slices.DeleteFunc(strings.Split(path, "/"), func(part string) bool { return part == "" })}
}

var requestValues = map[string]evaluator{
	"method":       func(s *scope) any { return s.request.Method() },
	"url":          func(s *scope) any { return s.request.URL() },
	"path":         pathSegments,
	"pathSegments": pathSegments,
	"multipart":    func(s *scope) any { return s.request.Parts() != nil },
	"isMultipart":  func(s *scope) any { return s.request.Parts() != nil },
	"binary":       func(*scope) any { return false },
	"id":           func(s *scope) any { return uuid(s.request.Random()) },
	"scheme":       func(s *scope) any { return s.request.Scheme() },
	"host":         func(s *scope) any { host, _ := hostPort(s.request); return host },
	"port":         func(s *scope) any { _, port := hostPort(s.request); return port },
	"baseUrl":      func(s *scope) any { return s.request.Scheme() + "://" + s.request.Host() },
	"clientIp":     func(s *scope) any { return s.request.ClientIP() },
	"body":         func(s *scope) any { return s.request.Body() },
	"bodyAsBase64": func(s *scope) any {
		body := s.request.Raw()
		if !s.budget.Spend(2 * len(body)) {
			return nil
		}
		return base64.StdEncoding.EncodeToString([]byte(body))
	},
}

var requestLists = map[string]func(r Request, name string) []string{
	"query":   Request.Query,
	"headers": Request.Header,
	"cookies": Request.Cookie,

	"formParameters": Request.Form,
}

func hostPort(r Request) (host string, port int64) {
	host, text, err := net.SplitHostPort(r.Host())
	if err != nil {
		host = r.Host()
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return host, n
	}
	if r.Scheme() == "https" {
		return host, 443
	}
	return host, 80
}

// texts compiles a field that may be there several times: by itself it stands
// for the first, with an index for the one at that place.
func texts(list func(*scope) []string, keys []string) (evaluator, error) {
	if len(keys) == 0 {
		return func(s *scope) any {
			if values := list(s); len(values) > 0 {
				return values
			}
			return nil
		}, nil
	}
	i, fromLast, ok := textIndex(keys[0])
	if !ok || len(keys) > 1 {
		return nil, nil
	}
	return func(s *scope) any {
		values := list(s)
		at := i
		if fromLast {
			at = len(values) - 1 - i
		}
		if at < 0 || at >= len(values) {
			return nil
		}
		return values[at]
	}, nil
}

// textIndex reads a place in a list. A negative one counts back from the last,
// which is not counted itself: -1 is the last but one.
func textIndex(key string) (i int, fromLast, ok bool) {
	switch key {
	case "first":
		return 0, false, true
	case "last":
		return 0, true, true
	}
	i, err := strconv.Atoi(key)
	if i < 0 {
		return -i, true, err == nil
	}
	return i, false, err == nil
}

// pathPart compiles a segment of the path by number, or by its name in the
// mapping's urlPathTemplate.
func pathPart(key string) evaluator {
	n, err := strconv.Atoi(key)
	if err != nil {
		return func(s *scope) any { return s.request.PathParameter(key) }
	}
	if n < 0 {
		return constant(nil)
	}
	return func(s *scope) any {
		path := s.request.Path()
		s.budget.Read(len(path))
		at := 0
		for segment := range strings.SplitSeq(path, "/") {
			if segment == "" {
				continue
			}
			if at == n {
				return segment
			}
			at++
		}
		return nil
	}
}
