// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// stubRequest gives a request to the mappings.
func stubRequest(r *http.Request) *wiremock.Request {
	request := &wiremock.Request{
		Method:   r.Method,
		Target:   r.RequestURI,
		Host:     r.Host,
		Scheme:   "http",
		ClientIP: clientIP(r),
		Header:   r.Header,
		ReadBody: func() ([]byte, error) { return readWhole(r.Body) },
	}
	if r.TLS != nil {
		request.Scheme = "https"
	}
	return request
}

// clientIP is the client that Caddy takes for the one behind trusted proxies.
func clientIP(r *http.Request) string {
	if ip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string); ok {
		return ip
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// readWhole reads the body for mappings that look at it.
func readWhole(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, mostRead+1))
	switch {
	case err != nil:
		return nil, caddyhttp.Error(http.StatusBadRequest, err)
	case len(data) > mostRead:
		return nil, caddyhttp.Error(http.StatusRequestEntityTooLarge, fmt.Errorf("a mapping looks at the body, which is larger than %d bytes", mostRead))
	}
	return data, nil
}
