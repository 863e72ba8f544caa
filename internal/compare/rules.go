// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// Options are the rules as users write them.
type Options struct {
	// IgnoreHeaders are names of fields, in header and trailer, whose
	// differences do not count.
	IgnoreHeaders []string
	// IgnoreJSON are paths of JSON whose differences, and all below them, do
	// not count. They hold in XML too.
	IgnoreJSON []string
	// Unordered are paths of arrays whose order does not matter.
	Unordered []string
	// RequireEqual is the header field without whose equality two responses
	// are not compared.
	RequireEqual string
	// Redact are header fields whose values are not shown.
	Redact []string
	// MaxBody bounds in bytes what a body may unpack to; by default 16 MiB.
	MaxBody int
}

const defaultMaxBody = 16 << 20

// Rules are what counts as a difference. They never change, so that many
// goroutines may share them.
type Rules struct {
	headers      map[string]treatment
	redact       map[string]bool
	ignore       *jsonpath.Set
	unordered    *jsonpath.Set
	requireEqual string
	maxBody      int
}

// treatment is how the values of a header field are compared.
type treatment byte

const (
	whole        treatment = iota
	ignored                // neither values nor presence count
	presenceOnly           // only whether it is there
	cookieNames            // the names of the cookies
	length                 // Content-Length
)

// NewRules returns the rules that options add to those of every comparison.
func NewRules(o Options) (*Rules, error) {
	r := &Rules{maxBody: o.MaxBody, requireEqual: o.RequireEqual}
	if r.maxBody <= 0 {
		r.maxBody = defaultMaxBody
	}
	if o.RequireEqual != "" && !httpguts.ValidHeaderFieldName(o.RequireEqual) {
		return nil, fmt.Errorf("'%s' is not a header field name", o.RequireEqual)
	}
	r.headers = map[string]treatment{
		"etag": presenceOnly, "last-modified": presenceOnly,
		"set-cookie": cookieNames, "content-length": length,
	}
	for _, name := range ignoredHeaders {
		r.headers[name] = ignored
	}
	for _, name := range o.IgnoreHeaders {
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, fmt.Errorf("'%s' is not a header field name", name)
		}
		r.headers[strings.ToLower(name)] = ignored
	}
	r.redact = make(map[string]bool, len(o.Redact))
	for _, name := range o.Redact {
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, fmt.Errorf("'%s' is not a header field name", name)
		}
		r.redact[strings.ToLower(name)] = true
	}
	var err error
	if r.ignore, err = setOf(o.IgnoreJSON); err != nil {
		return nil, err
	}
	r.unordered, err = setOf(o.Unordered)
	return r, err
}

func setOf(texts []string) (*jsonpath.Set, error) {
	paths := make([]jsonpath.Path, 0, len(texts))
	for _, text := range texts {
		path, err := jsonpath.Parse(text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return jsonpath.NewSet(paths...)
}

// ignoredHeaders are those of the server and of the way rather than of the
// response, of its moment, and the ids of tracing.
var ignoredHeaders = []string{
	"date", "server", "age", "via", "alt-svc",
	"connection", "keep-alive", "transfer-encoding", "proxy-connection",
	"server-timing", "traceparent", "tracestate", "baggage", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags",
	"request-id", "x-request-id", "correlation-id", "x-correlation-id", "trace-id", "x-trace-id", "x-span-id",
	"x-amzn-trace-id", "x-amzn-requestid", "x-amz-request-id", "x-amz-id-2", "x-amz-cf-id", "x-ms-request-id",
	"x-cloud-trace-context", "uber-trace-id", "cf-ray", "x-github-request-id", "sentry-trace", "x-datadog-trace-id", "x-datadog-parent-id",
}
