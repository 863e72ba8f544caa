// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/base64"
	"fmt"
	"net"
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
		return texts(func(s *scope) []string { return list(s.request, name) }, keys[2:])
	}
	if (keys[0] == "path" || keys[0] == "pathSegments") && len(keys) == 2 {
		return pathPart(keys[1]), nil
	}
	return nil, fmt.Errorf("'request.%s' is not supported", strings.Join(keys, "."))
}

var requestValues = map[string]evaluator{
	"method":       func(s *scope) any { return s.request.Method() },
	"url":          func(s *scope) any { return s.request.URL() },
	"path":         func(s *scope) any { return s.request.Path() },
	"pathSegments": func(s *scope) any { return s.request.Path() },
	"scheme":       func(s *scope) any { return s.request.Scheme() },
	"host":         func(s *scope) any { host, _ := hostPort(s.request); return host },
	"port":         func(s *scope) any { _, port := hostPort(s.request); return port },
	"baseUrl":      func(s *scope) any { return s.request.Scheme() + "://" + s.request.Host() },
	"clientIp":     func(s *scope) any { return s.request.ClientIP() },
	"body":         func(s *scope) any { return s.request.Body() },
	"bodyAsBase64": func(s *scope) any { return base64.StdEncoding.EncodeToString([]byte(s.request.Body())) },
}

var requestLists = map[string]func(r Request, name string) []string{
	"query":   Request.Query,
	"headers": Request.Header,
	"cookies": Request.Cookie,
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
		return nil, fmt.Errorf("'%s' is not an index", strings.Join(keys, "."))
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

// pathPart gives a segment of the path by number, or by its name in the
// mapping's urlPathTemplate.
func pathPart(key string) evaluator {
	n, err := strconv.Atoi(key)
	if err != nil {
		return func(s *scope) any { return s.request.PathParameter(key) }
	}
	return func(s *scope) any {
		rest := strings.TrimPrefix(s.request.Path(), "/")
		for range n {
			_, after, found := strings.Cut(rest, "/")
			if !found {
				return nil
			}
			rest = after
		}
		segment, _, _ := strings.Cut(rest, "/")
		return segment
	}
}
