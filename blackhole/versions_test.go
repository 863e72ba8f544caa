// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestHTTP2And3 records what comes by the binary versions like the rest.
func TestHTTP2And3(t *testing.T) {
	dir := t.TempDir()
	addr := caddytest.Addr(t)
	port := addr[strings.LastIndex(addr, ":")+1:]
	caddytest.Run(t, fmt.Sprintf(`{
	skip_install_trust
	auto_https disable_redirects
}
https://localhost:%s {
	bind 127.0.0.1
	tls internal
	blackhole {
		record %s
	}
}
`, port, dir))
	insecure := &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"} //nolint:gosec // the certificate is made by this test
	eventually(t, "a certificate", func() bool {
		conn, err := tls.Dial("tcp", "127.0.0.1:"+port, insecure)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	three := &http3.Transport{TLSClientConfig: insecure.Clone()}
	defer three.Close()
	two := &http.Transport{TLSClientConfig: insecure.Clone(), Protocols: new(http.Protocols)}
	two.Protocols.SetHTTP2(true)
	defer two.CloseIdleConnections()
	for proto, transport := range map[string]http.RoundTripper{"HTTP/2.0": two, "HTTP/3.0": three} {
		for _, body := range []string{"", "hello " + proto} {
			var reader io.Reader
			if body != "" {
				reader = io.MultiReader(strings.NewReader(body)) // of unknown length
			}
			request, err := http.NewRequest("POST", "https://localhost:"+port+"/v?q=a;b", reader)
			if err != nil {
				t.Fatal(err)
			}
			request.URL.Host = "127.0.0.1:" + port
			request.Host = "localhost:" + port
			request.Header["Cookie"] = []string{"a=1; b=2"}
			if body != "" {
				request.Trailer = http.Header{"X-Sum": {"7"}}
			}
			resp, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatalf("%s: %v", proto, err)
			}
			resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("%s: got status %d", proto, resp.StatusCode)
			}
		}
	}
	stop(t)
	got := records(t, dir)
	if len(got) != 4 {
		t.Fatalf("got %d records", len(got))
	}
	for _, r := range got {
		want := recorded{
			id: r.id, method: "POST", uri: "/v?q=a;b", headers: r.headers, scheme: "https", host: "localhost:" + port,
			proto: r.proto, remote: r.remote, time: r.time,
		}
		if r.body != "" {
			want.body, want.size = "hello "+r.proto, uint64(len(r.body))
			if r.proto == "HTTP/2.0" { // the HTTP/3 server gives no trailers of requests
				want.trailers = "X-Sum: 7\r\n"
			}
		}
		if r != want || !strings.HasPrefix(r.headers, "Host: localhost:"+port+"\r\n") || !strings.Contains(r.headers, "\r\nCookie: a=1; b=2\r\n") || strings.Contains(r.headers, "\n:") {
			t.Errorf("got  %+v\nwant %+v", r, want)
		}
	}
}
