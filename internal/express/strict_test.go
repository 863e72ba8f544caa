// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// oddRequests are requests that servers read differently, and requests that
// only look odd. Each is followed by another one on the same connection.
var oddRequests = map[string]string{
	"both lengths":               "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"both lengths, reversed":     "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"two lengths that differ":    "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
	"two lengths that agree":     "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
	"list of lengths":            "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3, 3\r\n\r\nabc",
	"length with sign":           "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: +3\r\n\r\nabc",
	"negative length":            "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: -1\r\n\r\n",
	"hexadecimal length":         "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0x3\r\n\r\nabc",
	"empty length":               "POST / HTTP/1.1\r\nHost: test\r\nContent-Length:\r\n\r\n",
	"length too large":           "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999999999999\r\n\r\n",
	"length with zeros":          "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0003\r\n\r\nabc",
	"length with spaces":         "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \t 3 \t\r\n\r\nabc",
	"length in odd case":         "POST / HTTP/1.1\r\nHost: test\r\ncOnTeNt-LeNgTh: 3\r\n\r\nabc",
	"chunked":                    "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"chunked in odd case":        "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: ChUnKeD\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"chunked twice":              "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
	"chunked in two lines":       "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	"chunked after tab":          "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
	"chunked after form feed":    "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding:\fchunked\r\n\r\n0\r\n\r\n",
	"gzip coding":                "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: gzip\r\n\r\n",
	"coding before colon space":  "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	"coding with underscore":     "POST / HTTP/1.1\r\nHost: test\r\nTransfer_Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
	"chunk size not hex":         "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nabc\r\n0\r\n\r\n",
	"chunk size negative":        "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
	"chunk size with prefix":     "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
	"chunk size too large":       "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nabc\r\n0\r\n\r\n",
	"chunk longer than said":     "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
	"chunk ends with LF":         "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
	"chunk extension":            "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n",
	"chunk extension with LF":    "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
	"trailers":                   "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
	"forbidden trailer":          "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\n\r\n",
	"bare LF":                    "GET / HTTP/1.1\nHost: test\n\n",
	"bare LF after request line": "GET / HTTP/1.1\nHost: test\r\n\r\n",
	"bare LF in fields":          "GET / HTTP/1.1\r\nHost: test\nX-A: b\r\n\r\n",
	"bare LF at the end":         "GET / HTTP/1.1\r\nHost: test\r\n\n",
	"bare CR in a value":         "GET / HTTP/1.1\r\nHost: test\r\nX-A: b\rX-C: d\r\n\r\n",
	"bare CR as line end":        "GET / HTTP/1.1\r\nHost: test\rX-A: b\r\n\r\n",
	"two CR, LF":                 "GET / HTTP/1.1\r\nHost: test\r\r\n\r\n",
	"folded value":               "GET / HTTP/1.1\r\nHost: test\r\nX-A: b\r\n c\r\n\r\n",
	"folded length":              "POST / HTTP/1.1\r\nHost: test\r\nContent-Length:\r\n 3\r\n\r\nabc",
	"folded first field":         "GET / HTTP/1.1\r\n Host: test\r\n\r\n",
	"space before colon":         "GET / HTTP/1.1\r\nHost: test\r\nX-A : b\r\n\r\n",
	"tab before colon":           "GET / HTTP/1.1\r\nHost: test\r\nX-A\t: b\r\n\r\n",
	"space in name":              "GET / HTTP/1.1\r\nHost: test\r\nX A: b\r\n\r\n",
	"no name":                    "GET / HTTP/1.1\r\nHost: test\r\n: b\r\n\r\n",
	"no colon":                   "GET / HTTP/1.1\r\nHost: test\r\nnothing\r\n\r\n",
	"NUL in value":               "GET / HTTP/1.1\r\nHost: test\r\nX-A: b\x00c\r\n\r\n",
	"NUL in name":                "GET / HTTP/1.1\r\nHost: test\r\nX-\x00A: b\r\n\r\n",
	"NUL in target":              "GET /\x00 HTTP/1.1\r\nHost: test\r\n\r\n",
	"high bytes in value":        "GET / HTTP/1.1\r\nHost: test\r\nX-A: \xe9\xff\r\n\r\n",
	"high bytes in name":         "GET / HTTP/1.1\r\nHost: test\r\nX-\xe9: b\r\n\r\n",
	"high bytes in target":       "GET /\xe9 HTTP/1.1\r\nHost: test\r\n\r\n",
	"parentheses in name":        "GET / HTTP/1.1\r\nHost: test\r\nX(A): b\r\n\r\n",
	"quotes in value":            "GET / HTTP/1.1\r\nHost: test\r\nX-A: \"b\r\n\r\n",
	"no Host":                    "GET / HTTP/1.1\r\nX-A: b\r\n\r\n",
	"two Hosts":                  "GET / HTTP/1.1\r\nHost: test\r\nHost: test\r\n\r\n",
	"empty Host":                 "GET / HTTP/1.1\r\nHost:\r\n\r\n",
	"Host of dots":               "GET / HTTP/1.1\r\nHost: ...\r\n\r\n",
	"Host with slash":            "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
	"Host with space":            "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
	"Host with user":             "GET / HTTP/1.1\r\nHost: u@test\r\n\r\n",
	"Host with port":             "GET / HTTP/1.1\r\nHost: test:8080\r\n\r\n",
	"Host as address":            "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
	"absolute target":            "GET http://other/x HTTP/1.1\r\nHost: test\r\n\r\n",
	"absolute target, no Host":   "GET http://other/x HTTP/1.1\r\n\r\n",
	"target without slash":       "GET x HTTP/1.1\r\nHost: test\r\n\r\n",
	"target with two slashes":    "GET //x HTTP/1.1\r\nHost: test\r\n\r\n",
	"target with dots":           "GET /../../x HTTP/1.1\r\nHost: test\r\n\r\n",
	"target with bad escape":     "GET /%zz HTTP/1.1\r\nHost: test\r\n\r\n",
	"target with cut escape":     "GET /%2 HTTP/1.1\r\nHost: test\r\n\r\n",
	"target with bad query":      "GET /?%zz HTTP/1.1\r\nHost: test\r\n\r\n",
	"target with fragment":       "GET /x#y HTTP/1.1\r\nHost: test\r\n\r\n",
	"asterisk":                   "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n",
	"asterisk with GET":          "GET * HTTP/1.1\r\nHost: test\r\n\r\n",
	"long target":                "GET /" + strings.Repeat("l", 6000) + " HTTP/1.1\r\nHost: test\r\n\r\n",
	"many fields":                "GET / HTTP/1.1\r\nHost: test\r\n" + strings.Repeat("X-A: b\r\n", 200) + "\r\n",
	"lower-case method":          "get / HTTP/1.1\r\nHost: test\r\n\r\n",
	"unknown method":             "BREW / HTTP/1.1\r\nHost: test\r\n\r\n",
	"long method":                strings.Repeat("M", 40) + " / HTTP/1.1\r\nHost: test\r\n\r\n",
	"method with parenthesis":    "GE(T / HTTP/1.1\r\nHost: test\r\n\r\n",
	"two spaces":                 "GET  / HTTP/1.1\r\nHost: test\r\n\r\n",
	"space at the end":           "GET / HTTP/1.1 \r\nHost: test\r\n\r\n",
	"space in the target":        "GET /a b HTTP/1.1\r\nHost: test\r\n\r\n",
	"tabs in the request line":   "GET\t/\tHTTP/1.1\r\nHost: test\r\n\r\n",
	"no version":                 "GET /\r\nHost: test\r\n\r\n",
	"HTTP/1.0":                   "GET / HTTP/1.0\r\nHost: test\r\n\r\n",
	"HTTP/1.0 kept alive":        "GET / HTTP/1.0\r\nHost: test\r\nConnection: keep-alive\r\n\r\n",
	"HTTP/1.0 with coding":       "POST / HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"HTTP/1.2":                   "GET / HTTP/1.2\r\nHost: test\r\n\r\n",
	"HTTP/2.0":                   "GET / HTTP/2.0\r\nHost: test\r\n\r\n",
	"http in lower case":         "GET / http/1.1\r\nHost: test\r\n\r\n",
	"HTTP/01.1":                  "GET / HTTP/01.1\r\nHost: test\r\n\r\n",
	"empty lines before":         "\r\nGET / HTTP/1.1\r\nHost: test\r\n\r\n",
	"TLS hello":                  "\x16\x03\x01\x02\x00\x01\x00\n",
	"Connection: close":          "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
	"Connection with a list":     "GET / HTTP/1.1\r\nHost: test\r\nConnection: keep-alive, close\r\n\r\n",
	"Connection names a field":   "GET / HTTP/1.1\r\nHost: test\r\nConnection: X-A\r\nX-A: b\r\n\r\n",
	"upgrade":                    "GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	"unknown expectation":        "POST / HTTP/1.1\r\nHost: test\r\nExpect: tea\r\nContent-Length: 3\r\n\r\nabc",
	"HEAD":                       "HEAD / HTTP/1.1\r\nHost: test\r\n\r\n",
	"GET with body":              "GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc",
	"body looks like a request":  "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 33\r\n\r\nGET /in HTTP/1.1\r\nHost: inner\r\n\r\n",
}

// TestOddRequestsGetWhatCaddyGivesThem sends the same bytes on a connection
// that Caddy serves and on those that were taken over.
func TestOddRequestsGetWhatCaddyGivesThem(t *testing.T) {
	s := runSites(t, "")
	for name, request := range oddRequests {
		t.Run(name, func(t *testing.T) {
			plain := dial(t, s.caddy)
			plain.get("/first", "caddy")
			want := exchangeAll(plain, request)
			s.over(t, func(t *testing.T, c *client) {
				if got := exchangeAll(c, request); got != want {
					t.Errorf("got\n%s\nbut Caddy gives\n%s", got, want)
				}
			})
		})
	}
}

// TestAConnectionDoesNotBecomeHTTP2 has a client say in the middle what is only
// said at the beginning.
func TestAConnectionDoesNotBecomeHTTP2(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(_ *testing.T, c *client) {
		c.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
		c.ended()
	})
}

// exchangeAll sends a request and another one behind it, then ends its side, and
// tells everything that comes back.
func exchangeAll(c *client, request string) string {
	method, _, _ := strings.Cut(request, " ")
	c.send(request + "GET /behind HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
	var got strings.Builder
	for {
		resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
		if err != nil {
			return got.String()
		}
		body, _ := io.ReadAll(resp.Body)
		fmt.Fprintf(&got, "%s %s %d close=%v type=%s %q\n", resp.Proto, resp.Status,
			resp.ContentLength, resp.Close, resp.Header.Get("Content-Type"), body)
		method = "GET"
	}
}
