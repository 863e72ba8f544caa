// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

// proxyVar is the variable of a request that says where it goes.
const proxyVar = "rehearsal_simulator_proxy"

// proxies are Caddy's reverse proxies to what mappings name, by scheme.
type proxies map[string]caddyhttp.Handler

// provisionProxies sets them up, if there are mappings that may ask for them, or
// will be.
func (h *Handler) provisionProxies(ctx caddy.Context) error {
	if h.mappings == nil || h.MappingsAdmin == nil && !h.mappings.Proxies() {
		return nil
	}
	h.proxies = make(proxies)
	for scheme, transport := range map[string]string{
		"http":  `{"protocol":"http"}`,
		"https": `{"protocol":"http","tls":{}}`,
	} {
		handler := fmt.Sprintf(`{"handler":"reverse_proxy","transport":%s,"upstreams":[{"dial":"{http.vars.%s}"}]}`, transport, proxyVar)
		routes := caddyhttp.RouteList{{HandlersRaw: []json.RawMessage{json.RawMessage(handler)}}}
		if err := routes.Provision(ctx); err != nil {
			return err
		}
		nobody := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
		h.proxies[scheme] = routes.Compile(nobody)
	}
	return nil
}

// proxied is the error of a request that another server responds to.
type proxied struct {
	*stubs.More
	latency time.Duration
}

func (*proxied) Error() string { return "another server responds to this request" }

var errProxyLoop = errors.New("proxyBaseUrl: the request came by many Caddys, as if it led back here")

// passTo passes a request on to another server and counts what that responds. Then
// it makes the calls that the mapping asks for.
func (h *Handler) passTo(w http.ResponseWriter, r *http.Request, p *proxied) error {
	defer h.mappings.After(p.More)
	to := p.Proxy
	proxy := h.proxies[to.URL.Scheme]
	if proxy == nil {
		return caddyhttp.Error(http.StatusServiceUnavailable, errors.New("the mappings have changed meanwhile"))
	}
	if hops(r.Header) >= mostHops {
		p.Proxied(http.StatusLoopDetected, p.latency)
		return caddyhttp.Error(http.StatusLoopDetected, errProxyLoop)
	}
	recorder := caddyhttp.NewResponseRecorder(&adding{ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, fields: to.Add}, nil, nil)
	status := scenario.NoStatus // if the response is broken off
	defer func() { p.Proxied(status, p.latency) }()
	err := proxy.ServeHTTP(recorder, requestTo(r, to))
	status = recorder.Status()
	if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok && status == 0 {
		status = failed.StatusCode
	}
	return err
}

// requestTo returns the request that another server gets.
func requestTo(r *http.Request, to *wiremock.Proxy) *http.Request {
	port := to.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[to.URL.Scheme]
	}
	caddyhttp.SetVar(r.Context(), proxyVar, net.JoinHostPort(to.URL.Hostname(), port))
	out := new(http.Request)
	*out = *r
	out.URL = &url.URL{Path: to.URL.Path, RawPath: to.URL.RawPath, RawQuery: to.URL.RawQuery}
	out.RequestURI = out.URL.RequestURI()
	out.Host = to.URL.Host
	out.Header = r.Header.Clone()
	for _, name := range to.Remove {
		out.Header.Del(name)
	}
	for _, field := range to.More {
		if field.Name == "Host" {
			out.Host = field.Value
			continue
		}
		out.Header.Add(field.Name, field.Value)
	}
	return out
}

// adding adds fields to the header of a response.
type adding struct {
	*caddyhttp.ResponseWriterWrapper
	fields []wiremock.Field
}

// WriteHeader adds them, once.
func (w *adding) WriteHeader(status int) {
	if status >= http.StatusOK {
		for _, field := range w.fields {
			w.Header().Add(field.Name, field.Value)
		}
		if header := w.Header(); header["Content-Type"] == nil {
			header["Content-Type"] = nil // net/http would guess one
		}
		w.fields = nil
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

// Write writes the header first.
func (w *adding) Write(p []byte) (int, error) {
	if w.fields != nil {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriterWrapper.Write(p)
}
