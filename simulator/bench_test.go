// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

// BenchmarkServe compares the handler with Caddy's own static response of the
// same body, without a connection.
func BenchmarkServe(b *testing.B) {
	body := strings.Repeat("x", 100)
	static := caddyhttp.StaticResponse{Body: body}
	simulated := handlerOf(b, `{"body":"`+body+`","stages":[{"at":0,"status":200,"latency":0},{"at":"1h","status":503}]}`)
	large := handlerOf(b, `{"random_content":"428kb","stages":[{}]}`)
	for _, bench := range []struct {
		name  string
		serve func(http.ResponseWriter, *http.Request) error
	}{
		{"respond", func(w http.ResponseWriter, r *http.Request) error { return static.ServeHTTP(w, r, nil) }},
		{"simulator", func(w http.ResponseWriter, r *http.Request) error { return simulated.ServeHTTP(w, r, nil) }},
		{"simulator-428kb", func(w http.ResponseWriter, r *http.Request) error { return large.ServeHTTP(w, r, nil) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := nowhere{http.Header{}}
			r := httptest.NewRequest(http.MethodGet, "/path", nil)
			r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				if err := bench.serve(w, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// handlerOf makes a handler that no configuration has.
func handlerOf(t testing.TB, text string) *Handler {
	t.Helper()
	list, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.New(t.Name(), list, scenario.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Destruct() })
	return &Handler{scenario: s, logger: caddy.Log()}
}

// TestServingAllocatesOnce holds that a request costs one allocation: the
// values of its header, which handlers around may change.
func TestServingAllocatesOnce(t *testing.T) {
	h := handlerOf(t, `{"body":"hello","headers":{"a":"1","b":["2","3"]},"stages":[{}]}`)
	w := nowhere{http.Header{}}
	r := httptest.NewRequest(http.MethodGet, "/path", nil)
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
	if n := testing.AllocsPerRun(1000, func() { _ = h.ServeHTTP(w, r, nil) }); n > 1 {
		t.Errorf("%v allocations a request", n)
	}
}

// nowhere is a writer that sends nothing.
type nowhere struct{ header http.Header }

func (w nowhere) Header() http.Header       { return w.header }
func (nowhere) WriteHeader(int)             {}
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkOutcomes compares a stage of one outcome with one of three.
func BenchmarkOutcomes(b *testing.B) {
	body := strings.Repeat("x", 100)
	for name, stage := range map[string]string{
		"one":   `{"latency":0}`,
		"three": `{"outcomes":[{"first":2,"status":503},{"percent":3,"status":429},{"latency":0}]}`,
	} {
		h := handlerOf(b, `{"body":"`+body+`","stages":[`+stage+`]}`)
		b.Run(name, func(b *testing.B) {
			w := nowhere{http.Header{}}
			r := httptest.NewRequest(http.MethodGet, "/path", nil)
			r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				if err := h.ServeHTTP(w, r, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMappings compares answering by mappings, those that others were measured
// with, with Caddy's own static response.
func BenchmarkMappings(b *testing.B) {
	const order = `{"items":[{"sku":"teapot","quantity":2},{"sku":"kettle","quantity":1}],"customer":{"id":7,"name":"Ada"}}`
	static := caddyhttp.StaticResponse{}
	for _, bench := range []struct{ name, folder, method, target, body string }{
		{"respond", "", "GET", "/products/1", ""},
		{"22 fixed", "static", "GET", "/products/1", ""},
		{"102 template", "dynamic", "GET", "/greeting?name=Ada", ""},
		{"102 query and JSON", "dynamic", "POST", "/orders?currency=EUR", order},
	} {
		serve := func(w http.ResponseWriter, r *http.Request) error { return static.ServeHTTP(w, r, nil) }
		if bench.folder != "" {
			h := handlerOf(b, `{"route":"/recipe","stages":[{}]}`)
			mappings, err := wiremock.Load("../examples/wiremock/" + bench.folder)
			if err != nil {
				b.Fatal(err)
			}
			h.mappings = stubs.New(mappings, stubs.Options{Scenario: h.scenario})
			serve = func(w http.ResponseWriter, r *http.Request) error { return h.ServeHTTP(w, r, nil) }
		}
		b.Run(bench.name, func(b *testing.B) {
			w := nowhere{http.Header{}}
			r := httptest.NewRequest(bench.method, bench.target, http.NoBody)
			r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
			body := strings.NewReader("")
			r.Body, r.ContentLength = io.NopCloser(body), int64(len(bench.body))
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				body.Reset(bench.body)
				if err := serve(w, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
