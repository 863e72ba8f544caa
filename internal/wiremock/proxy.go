// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// Proxy has another server answer a request.
type Proxy struct {
	// URL is what is asked for there: http or https.
	URL *url.URL
	// Remove are the fields that the request loses, More those that it gets beside its
	// own.
	Remove []string
	More   []Field
	// Add are the fields that the header of the response gets beside its own.
	Add []Field
}

// proxying is what a mapping says of a Proxy.
type proxying struct {
	base     string
	template *template.Template // of the base; nil: it is as it is
	prefix   string             // is cut off the URL
	more     []headerOf
	remove   []string
}

// parseProxy takes the fields of a response that comes from another server.
func (r *definition) parseProxy(f *fields, t templating) error {
	var p proxying
	given, err := f.into("proxyBaseUrl", &p.base)
	if err != nil {
		return err
	}
	if _, err := f.into("proxyUrlPrefixToRemove", &p.prefix); err != nil {
		return err
	}
	if _, err := f.into("removeProxyRequestHeaders", &p.remove); err != nil {
		return err
	}
	if data, given := f.take("additionalProxyRequestHeaders"); given {
		if p.more, err = t.headers(data); err != nil {
			return f.located("additionalProxyRequestHeaders", err)
		}
	}
	if !given {
		return nil // without a server to go to, the other fields mean nothing
	}
	if p.template, err = t.parse(p.base); err != nil {
		return f.located("proxyBaseUrl", err)
	}
	if p.template == nil {
		if _, err := parseHTTP(p.base); err != nil {
			return f.located("proxyBaseUrl", err)
		}
	}
	r.proxy = &p
	return nil
}

// parseHTTP reads a URL of http or https.
func parseHTTP(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Opaque != "" {
		return nil, fmt.Errorf("'%s' is not a URL of http or https", text)
	}
	return u, nil
}

// target returns the URL to ask for: the base, and behind it the URL of the request.
func (p *proxying) target(r *Request) (*url.URL, error) {
	base := p.base
	if p.template != nil {
		base = oneLine(string(p.template.Append(nil, model{r})))
	}
	rest := strings.TrimPrefix(r.url, p.prefix)
	if strings.HasSuffix(base, "/") {
		rest = strings.TrimPrefix(rest, "/")
	} else if rest != "" && rest[0] != '/' && rest[0] != '?' {
		rest = "/" + rest
	}
	return parseHTTP(base + rest)
}

func (p *proxying) of(r *Request, added []Field) (*Proxy, error) {
	target, err := p.target(r)
	if err != nil {
		return nil, err
	}
	return &Proxy{URL: target, More: fieldsOf(p.more, r), Remove: p.remove, Add: added}, nil
}
