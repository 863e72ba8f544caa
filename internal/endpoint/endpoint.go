// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package endpoint has the rule by which requests are of one kind: method, path
// template, and the name of the operation in GraphQL.
package endpoint

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// AppendName appends the endpoint of a request: `GET /items/*`, or
// `POST /graphql GetCart`.
func AppendName(dst, method, target, body []byte) []byte {
	dst = append(append(dst, method[:min(len(method), maxSegment)]...), ' ')
	dst = AppendTemplate(dst, target)
	if name := Operation(target, body); name != "" {
		dst = append(append(dst, ' '), name...)
	}
	return dst
}

// Bounds of a template: what is beyond is a * as well.
const (
	maxSegment  = 100 // bytes
	maxSegments = 32
)

// AppendTemplate appends the path of a request target, without query, with a
// * for each segment that is one of many.
func AppendTemplate(dst, target []byte) []byte {
	path := target
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	for i := 0; ; i++ {
		segment, rest, more := bytes.Cut(path, []byte{'/'})
		if i > 0 {
			dst = append(dst, '/')
		}
		switch {
		case i == maxSegments:
			return append(dst, '*')
		case IsIdentifier(segment) || len(segment) > maxSegment:
			dst = append(dst, '*')
		default:
			dst = append(dst, segment...)
		}
		if !more {
			return dst
		}
		path = rest
	}
}

// maxQuery bounds the bodies that are looked at for an operation.
const maxQuery = 1 << 20

// Operation returns the name of the GraphQL operation that a request asks for,
// "" if it is none or has no name.
func Operation(target, body []byte) string {
	var query, name string
	switch {
	case len(body) > 0 && len(body) <= maxQuery && bytes.Contains(body, []byte(`"query"`)):
		var asked struct {
			Query         string `json:"query"`
			OperationName string `json:"operationName"`
		}
		if json.Unmarshal(body, &asked) != nil {
			return ""
		}
		query, name = asked.Query, asked.OperationName
	case len(body) == 0 && bytes.Contains(target, []byte("query=")):
		_, text, _ := bytes.Cut(target, []byte{'?'})
		values, err := url.ParseQuery(string(text))
		if err != nil {
			return ""
		}
		query, name = values.Get("query"), values.Get("operationName")
	}
	if !strings.Contains(query, "{") {
		return ""
	}
	if name == "" {
		name = firstOperation(query)
	}
	if !isName(name) {
		return ""
	}
	return name
}

// firstOperation returns the name behind the first query, mutation or
// subscription.
func firstOperation(query string) string {
	head, _, _ := strings.Cut(query, "{")
	head, _, _ = strings.Cut(head, "(")
	words := strings.Fields(head)
	if len(words) == 2 && (words[0] == "query" || words[0] == "mutation" || words[0] == "subscription") {
		return words[1]
	}
	return ""
}

func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9' || i == 0) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0 && len(name) <= 100
}
