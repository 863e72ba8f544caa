// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// request is the message in HTTP/2's terms. Its target goes as it is: net/http
// takes scheme and host off an opaque URL and sends the rest.
func (c *http2) request(ctx context.Context, m *Message, host string) *http.Request {
	if host == "" {
		host = string(m.Host)
	}
	target := string(m.Target)
	if _, rest, absolute := strings.Cut(target, "://"); absolute && target[0] != '/' {
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			target = rest[slash:]
		} else {
			target = "/"
		}
	}
	if target[0] == '/' {
		target = c.scheme + "://" + host + target
	}
	r := &http.Request{
		Method: string(m.Method),
		URL:    &url.URL{Scheme: c.scheme, Host: c.target, Opaque: target},
		Host:   host,
		Header: make(http.Header),
	}
	for name, value := range m.Fields() {
		switch kindOf(name) {
		case plain, trailer:
			key := http.CanonicalHeaderKey(string(name))
			r.Header[key] = append(r.Header[key], string(value))
		case hostField, contentLength, transferEncoding, connectionField:
		}
	}
	if _, given := r.Header["User-Agent"]; !given {
		r.Header["User-Agent"] = []string{""} // else net/http adds its own
	}
	if m.HasBody() {
		r.Body = io.NopCloser(bytes.NewReader(m.Body))
		r.ContentLength = int64(len(m.Body))
		if m.Chunked {
			r.ContentLength = -1
		}
	}
	for name, value := range m.Trailers() {
		if r.Trailer == nil {
			r.Trailer = make(http.Header)
		}
		r.Trailer.Add(string(name), string(value))
	}
	return r.WithContext(ctx)
}

// sendable finds what HTTP/1.1 can carry and HTTP/2 can't, of which net/http's
// errors look like those of a connection. The error is of kind Unsendable.
func sendable(r *http.Request) error {
	host, err := httpguts.PunycodeHostPort(r.Host)
	if err != nil || !httpguts.ValidHostHeader(host) {
		return fail(Unsendable, fmt.Errorf("'%s' is no host in HTTP/2", r.Host))
	}
	path := strings.TrimPrefix(r.URL.Opaque, r.URL.Scheme+"://"+host)
	if r.Method != http.MethodConnect && path != "*" && !strings.HasPrefix(path, "/") {
		return fail(Unsendable, fmt.Errorf("'%s' is no path in HTTP/2", path))
	}
	for _, fields := range []http.Header{r.Header, r.Trailer} {
		for name, values := range fields {
			for _, value := range values {
				if !httpguts.ValidHeaderFieldValue(value) {
					return fail(Unsendable, fmt.Errorf("the value of field '%s' can't go over HTTP/2", name))
				}
			}
		}
	}
	return nil
}
