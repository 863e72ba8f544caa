// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func TestWhatGoesOverTheWire(t *testing.T) {
	cut := record("POST", "/", "begin", "Host: a", "Content-Length: 99")
	cut.BodySize = 99
	trailed := record("POST", "/", "body", "Host: a", "Trailer: X-Sum")
	trailed.Trailers = []byte("X-Sum: 42\r\nContent-Length: 5\r\n")
	http2 := record("GET", "/", "", "accept: */*")
	http2.Host = []byte("shop.test")
	for name, tc := range map[string]struct {
		rewriter Rewriter
		request  *recording.Request
		want     string
	}{
		"order, spelling and bytes": {
			Rewriter{},
			record("GET", "/%2F;//?a=%zz", "", "Host: a", "zZ: 1", "Accept:*/*", "zZ: 2", "X: Caf\xe9", "Empty: "),
			"GET /%2F;//?a=%zz HTTP/1.1\r\nHost: a\r\nzZ: 1\r\nAccept: */*\r\nzZ: 2\r\nX: Caf\xe9\r\nEmpty: \r\n\r\n",
		},
		"Host comes first and once": {
			Rewriter{}, record("GET", "/", "", "Accept: */*", "host: a", "Host: b"), "GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n",
		},
		"host of an HTTP/2 request": {Rewriter{}, http2, "GET / HTTP/1.1\r\nHost: shop.test\r\naccept: */*\r\n\r\n"},
		"what belongs to the connection": {
			Rewriter{},
			record("GET", "/", "", "Host: a", "Connection: keep-alive, X-Hop, Upgrade", "Keep-Alive: timeout=5", "Proxy-Connection: x", "x-hop: 1", "Upgrade: websocket", "HTTP2-Settings: x", "Te: trailers"),
			"GET / HTTP/1.1\r\nHost: a\r\nTe: trailers\r\n\r\n",
		},
		"length in its place": {
			Rewriter{},
			record("POST", "/", "body", "Host: a", "content-length: 99", "X: y", "Content-Length: 98"),
			"POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 4\r\nX: y\r\n\r\nbody",
		},
		"length that was not recorded": {Rewriter{}, record("POST", "/", "body", "Host: a", "X: y"), "POST / HTTP/1.1\r\nHost: a\r\nX: y\r\nContent-Length: 4\r\n\r\nbody"},
		"no body and no length":        {Rewriter{}, record("POST", "/", "", "Host: a"), "POST / HTTP/1.1\r\nHost: a\r\n\r\n"},
		"no body but a length":         {Rewriter{}, record("POST", "/", "", "Host: a", "Content-Length: 0"), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"},
		"a body that is cut":           {Rewriter{}, cut, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nbegin"},
		"chunks": {
			Rewriter{},
			record("POST", "/", "0123456789abcdef", "Host: a", "Transfer-Encoding: gzip, chunked", "X: y"),
			"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
		},
		"no chunk":                         {Rewriter{}, record("POST", "/", "", "Host: a", "Transfer-Encoding: chunked"), "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		"chunks win":                       {Rewriter{}, record("POST", "/", "b", "Host: a", "Content-Length: 7", "Transfer-Encoding: chunked"), "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\n"},
		"trailers":                         {Rewriter{}, trailed, "POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n"},
		"trailers none":                    {Rewriter{}, record("POST", "/", "b", "Host: a", "Trailer: X-Sum"), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb"},
		"a proxy's target":                 {Rewriter{}, record("GET", "http://shop.test/a?b", "", "Host: shop.test"), "GET http://shop.test/a?b HTTP/1.1\r\nHost: shop.test\r\n\r\n"},
		"a proxy's target, another host":   {Rewriter{Host: "stage.test"}, record("GET", "http://shop.test/a?b", "", "Host: shop.test"), "GET /a?b HTTP/1.1\r\nHost: stage.test\r\n\r\n"},
		"a proxy's target, the target's":   {Rewriter{OriginForm: true}, record("GET", "https://shop.test?b", "", "Host: shop.test"), "GET /?b HTTP/1.1\r\nHost: shop.test\r\n\r\n"},
		"a proxy's target without a path":  {Rewriter{Host: "stage.test"}, record("GET", "http://shop.test", "", "Host: shop.test"), "GET / HTTP/1.1\r\nHost: stage.test\r\n\r\n"},
		"a target of every server remains": {Rewriter{Host: "stage.test"}, record("OPTIONS", "*", "", "Host: shop.test"), "OPTIONS * HTTP/1.1\r\nHost: stage.test\r\n\r\n"},
		"rewriting": {
			Rewriter{Host: "www.test", Set: []Field{{"X", "1"}, {"x", "2"}}, Remove: []string{"cookie"}, Close: true},
			record("GET", "/", "", "Host: a", "X: old", "Cookie: a=b", "Y: z"),
			"GET / HTTP/1.1\r\nHost: www.test\r\nY: z\r\nX: 1\r\nx: 2\r\nConnection: close\r\n\r\n",
		},
	} {
		var m Message
		for range 2 { // the second time over the first
			if err := tc.rewriter.Write(&m, tc.request); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if got := string(m.Bytes()); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tc.want)
		}
		target := string(tc.request.URI)
		if strings.HasPrefix(name, "a proxy's") {
			target = strings.Fields(tc.want)[1]
		}
		if string(m.Method) != string(tc.request.Method) || string(m.Target) != target || string(m.Body) != string(tc.request.Body) {
			t.Errorf("%s: the parts are %q %q %q", name, m.Method, m.Target, m.Body)
		}
		if m.Truncated != (name == "a body that is cut") {
			t.Errorf("%s: truncated %v", name, m.Truncated)
		}
		if got := string(m.addressed(nil, "", "other", len(m.wire))); !strings.Contains(got, " HTTP/1.1\r\nHost: other\r\n") || len(got) != len(tc.want)-len(m.Host)+len("other") {
			t.Errorf("%s: with another host: %q", name, got)
		}
	}
}

func TestRecordsThatAreNoRequests(t *testing.T) {
	for name, r := range map[string]*recording.Request{
		"no method":           record("", "/", ""),
		"a method of words":   record("GET /x", "/", ""),
		"no target":           record("GET", "", ""),
		"a space":             record("GET", "/a b", ""),
		"a line break":        record("GET", "/ HTTP/1.1\r\nX: y", ""),
		"a name of words":     record("GET", "/", "", "Host: a", "X y: z"),
		"no name":             record("GET", "/", "", "Host: a", ": z"),
		"a NUL":               record("GET", "/", "", "Host: a", "X: a\x00b"),
		"a bare return":       record("GET", "/", "", "Host: a", "X: a\rb"),
		"a host of two lines": {Method: []byte("GET"), URI: []byte("/"), Host: []byte("a\r\nX: y")},
	} {
		err := new(Rewriter).Write(new(Message), r)
		if err == nil || http1.KindOf(err) != http1.Unsendable {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// The time that a record takes grows with its size, not with its square: this
// one would take minutes.
func TestManyConnectionOptions(t *testing.T) {
	r := record("GET", "/", "", "Host: a", "Connection: "+strings.Repeat("x,", 500_000)+" Gone")
	for range 100_000 {
		r.Headers = append(r.Headers, "gONE: y\r\na: b\r\n"...)
	}
	if m := message(t, r); bytes.Count(m.Bytes(), []byte("a: b\r\n")) != 100_000 || bytes.Contains(m.Bytes(), []byte("gONE")) {
		t.Error("the wrong fields were left out")
	}
}

func TestParseField(t *testing.T) {
	for text, want := range map[string]Field{"X: y": {"X", "y"}, "X:y": {"X", "y"}, "X:": {"X", ""}, "X: a: b": {"X", "a: b"}} {
		if got, err := ParseField(text); err != nil || got != want {
			t.Errorf("%q: got %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "X", ": y", "X y: z", "X: a\nb", "Host: a", "content-length: 1", "Transfer-Encoding: chunked", "Connection: close"} {
		if got, err := ParseField(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// FuzzWrite holds that whatever a recording says, what goes over the wire is one
// request with its body and nothing behind it.
func FuzzWrite(f *testing.F) {
	f.Add("GET", "/", "Host: a\r\n", "", "")
	f.Add("POST", "/a", "Host: a\r\nTransfer-Encoding: chunked\r\n", "body", "X: y\r\n")
	f.Add("POST", "/a", "Host: a\r\nContent-Length: 7\r\n\r\nGET / HTTP/1.1\r\n", "body", "")
	f.Add("PUT", "//", "Connection: Content-Length, a\r\nContent-Length: 3\r\na: b\r\n", "body", "")
	f.Fuzz(func(t *testing.T, method, target, headers, body, trailers string) {
		var m Message
		r := &recording.Request{
			Method: []byte(method), URI: []byte(target), Headers: []byte(headers), Body: []byte(body), Trailers: []byte(trailers), Host: []byte("a"),
		}
		if new(Rewriter).Write(&m, r) != nil {
			return
		}
		wire := bufio.NewReader(bytes.NewReader(m.Bytes()))
		got, err := http.ReadRequest(wire)
		if err != nil {
			return // net/http is stricter than the wire needs
		}
		read, err := io.ReadAll(got.Body)
		if err != nil && string(read) == body {
			return // trailers are fields that net/http is stricter about
		}
		if string(read) != body {
			t.Fatalf("%q: got body %q, error %v", m.Bytes(), read, err)
		}
		if rest, _ := io.ReadAll(wire); len(rest) > 0 {
			t.Fatalf("%q: %q follows", m.Bytes(), rest)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	r := record("GET", "/some/path?and=query", "", "Host: shop.test", "User-Agent: curl/8", "Accept: */*", "Cookie: a=b; c=d", "Content-Length: 0")
	var m Message
	b.ReportAllocs()
	for b.Loop() {
		if err := new(Rewriter).Write(&m, r); err != nil {
			b.Fatal(err)
		}
	}
}
