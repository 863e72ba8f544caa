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
)

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
