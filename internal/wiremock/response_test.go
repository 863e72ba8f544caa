// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
)

// respond returns the response to a request that a mapping has to match.
func respond(t *testing.T, set *Set, r *Request) *Response {
	t.Helper()
	m, err := set.Match(r)
	if err != nil || m == nil {
		t.Fatal(r.Target, m, err)
	}
	response, err := m.Respond(r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestTimingAndFaults(t *testing.T) {
	set := parse(t, `[
		{"request":{"url":"/fixed"},"response":{"fixedDelayMilliseconds":500}},
		{"request":{"url":"/both"},"response":{"fixedDelayMilliseconds":100,"delayDistribution":{"type":"uniform","lower":10,"upper":20}}},
		{"request":{"url":"/dribble"},"response":{"chunkedDribbleDelay":{"numberOfChunks":5,"totalDuration":1000}}},
		{"request":{"url":"/fault"},"response":{"fault":"EMPTY_RESPONSE"}}]`)
	get := func(target string) *Response {
		return respond(t, set, newRequest(exchange{Method: "GET", Target: target}))
	}
	fixed, both := get("/fixed"), get("/both")
	if got := fixed.Wait(nil, latency.Random()); got != 500*time.Millisecond {
		t.Errorf("fixed: %s", got)
	}
	if got := both.Wait(nil, latency.Random()); got < 110*time.Millisecond || got > 120*time.Millisecond {
		t.Errorf("both: %s", got)
	}
	if got := get("/dribble").Dribble; got != (Dribble{5, time.Second}) {
		t.Errorf("dribble: %v", got)
	}
	if got := get("/fault").Fault; got != EmptyResponse {
		t.Errorf("fault: %v", got)
	}
}

// TestTemplatedHeaderStaysOneLine holds that a client cannot add lines to the
// header of its answer.
func TestTemplatedHeaderStaysOneLine(t *testing.T) {
	set := parse(t, `{"response":{"headers":{"X-Echo":"{{request.query.q}}"},"transformers":["response-template"]}}`)
	r := newRequest(exchange{Method: "GET", Target: "/?q=a%0D%0ASet-Cookie:%20b"})
	response := respond(t, set, r)
	if got := response.Header; len(got) != 1 || got[0].Value != "a  Set-Cookie: b" {
		t.Errorf("got %q", got)
	}
}

// TestHeadersKeepTheirBytes holds that a value in another charset comes back as it was
// sent.
func TestHeadersKeepTheirBytes(t *testing.T) {
	set := parse(t, `{"response":{"headers":{"X":"{{request.headers.A}}"},"transformers":["response-template"]}}`)
	got := answer(t, set, exchange{Method: "GET", Target: "/", Headers: [][2]string{{"A", "caf\xe9 é"}}})
	if got.Header.Get("X") != "caf\xe9 é" {
		t.Errorf("got %q", got.Header)
	}
}

func TestFramingIsLeftToTheServer(t *testing.T) {
	set := parse(t, `{"response":{"headers":{"content-length":"5","Transfer-Encoding":"chunked","X-A":"b"}}}`)
	r := newRequest(exchange{Method: "GET", Target: "/"})
	response := respond(t, set, r)
	if got := response.Header; len(got) != 1 || got[0] != (Field{"X-A", "b"}) {
		t.Errorf("got %q", got)
	}
}

// TestProxiedResponsesOutliveTheirRequest holds that what another server responds gets
// the header that was rendered, although the request is used for another one by then.
func TestProxiedResponsesOutliveTheirRequest(t *testing.T) {
	set := parse(t, `{"response":{"proxyBaseUrl":"http://localhost:1","headers":{"X-Echo":"{{request.query.q}}"},"transformers":["response-template"]}}`)
	r := newRequest(exchange{Method: "GET", Target: "/?q=mine"})
	response := respond(t, set, r)
	proxy := response.Proxy
	*r = Request{}
	if got := proxy.Add; len(got) != 1 || got[0] != (Field{"X-Echo", "mine"}) {
		t.Errorf("got %q", got)
	}
}
