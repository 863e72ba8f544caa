// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// echo is a server that keeps what it was sent.
type echo struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	e := new(echo)
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sent = append(e.sent, fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Content-Type"), body))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *echo) got() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.Sort(e.sent)
	return e.sent
}

func TestRequestsOfAURL(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"body": "from a file", "ids.csv": "id\na\nb\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const form = " application/x-www-form-urlencoded "
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"method":   {[]string{"-n", "1", "-X", "PURGE"}, []string{"PURGE /p  "}},
		"body":     {[]string{"-n", "2", "--data", "a=1"}, []string{"POST /p" + form + "a=1", "POST /p" + form + "a=1"}},
		"in turn":  {[]string{"-n", "3", "--data", "a=1", "--data", "@" + filepath.Join(dir, "body")}, []string{"POST /p" + form + "a=1", "POST /p" + form + "a=1", "POST /p" + form + "from a file"}},
		"PUT":      {[]string{"-n", "1", "-X", "PUT", "--data", "{}", "--header", "Content-Type: application/json"}, []string{"PUT /p application/json {}"}},
		"template": {[]string{"-n", "3", "--data-template", "{{.n}} {{.id}}", "--data-csv", filepath.Join(dir, "ids.csv")}, []string{"POST /p" + form + "1 a", "POST /p" + form + "2 b", "POST /p" + form + "3 a"}},
		"rewrite":  {[]string{"-n", "1", "--rewrite", "s/p/q/", "--rewrite", "s,^,/api,"}, []string{"GET /api/q  "}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			o := replay(t, append(tc.args, "-q", e.URL+"/p")...)
			if got := e.got(); o.status != 0 || !slices.Equal(got, tc.want) {
				t.Errorf("status %d, %s\ngot  %q\nwant %q", o.status, o.stderr, got, tc.want)
			}
		})
	}
}

func TestBasePathOfATarget(t *testing.T) {
	e := newEcho(t)
	for _, more := range [][]string{{"--host", "target"}, {"--host", "preserve"}} {
		o := replay(t, append(more, "-q", "--max", "--to", e.URL+"/base/", write(t, "a.fbf", 2, 0))...)
		if o.status != 0 {
			t.Fatalf("status %d, %s", o.status, o.stderr)
		}
	}
	if got, want := e.got(), []string{"GET /base/0  ", "GET /base/0  ", "GET /base/1  ", "GET /base/1  "}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The base path comes before the path of a record, and not before that of a
// redirect, which is of the whole server.
func TestBasePathAndRedirects(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/base/0" {
			http.Redirect(w, r, "next", http.StatusFound)
		}
	})
	if o := replay(t, "-q", "--max", "--redirects", "2", "--host", "target", "--to", s.url+"/base", write(t, "a.fbf", 1, 0)); o.status != 0 {
		t.Fatalf("status %d, %s", o.status, o.stderr)
	}
	if got := s.got(); len(got) != 2 || got[1].URL.Path != "/base/next" {
		t.Errorf("got %v", got)
	}
}

func TestClientCertificatesAndNames(t *testing.T) {
	var names, peers []string
	var mu sync.Mutex
	hs := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, r.TLS.ServerName)
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		peers = append(peers, host)
	}))
	hs.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	hs.StartTLS()
	t.Cleanup(hs.Close)
	dir := t.TempDir()
	own := hs.TLS.Certificates[0]
	key := keyPEM(t, own)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]})
	for name, data := range map[string][]byte{"cert.pem": certificate, "key.pem": key, "both.pem": append(certificate, key...)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct {
		args   []string
		status int
	}{
		{[]string{"--cert", path("both.pem")}, 0},
		{[]string{"--cert", path("cert.pem"), "--key", path("key.pem"), "--http2"}, exitIncomplete}, // the server has no HTTP/2
		{[]string{"--cert", path("cert.pem"), "--key", path("key.pem"), "--source-ip", "127.0.0.1"}, 0},
		{nil, exitIncomplete},
		{[]string{"--cert", path("key.pem")}, exitNotStarted},
		{[]string{"--key", path("key.pem")}, exitNotStarted},
		{[]string{"--cert", path("both.pem"), "--cacert", path("key.pem")}, exitNotStarted},
		{[]string{"--cert", path("both.pem"), "--source-ip", "localhost"}, exitNotStarted},
		{[]string{"--cert", path("cert.pem")}, exitNotStarted},
	} {
		args := append([]string{"-q", "-n", "1", "--cacert", path("cert.pem"), "--server-name", "example.com"}, tc.args...)
		if slices.Contains(tc.args, "--cacert") {
			args = append([]string{"-q", "-n", "1"}, tc.args...)
		}
		if o := replay(t, append(args, hs.URL)...); o.status != tc.status {
			t.Errorf("%v: status %d, %s", tc.args, o.status, o.stderr)
		}
	}
	if o := replay(t, "-n", "1", "--cert", path("cert.pem"), hs.URL); !strings.Contains(o.stderr, "or the key in a file of --key") {
		t.Errorf("without a key: %s", o.stderr)
	}
	if got := strings.Join(append(names, peers...), " "); got != "example.com example.com 127.0.0.1 127.0.0.1" {
		t.Errorf("the server was asked for %s", got)
	}
}

func TestConnectionsAreRefreshed(t *testing.T) {
	e := newEcho(t)
	o := replay(t, "-n", "5", "-c", "1", "--dns-refresh", "1ns", "--report", "json", e.URL)
	if o.status != 0 || !strings.Contains(o.stdout, `"connections_opened": 5`) && !strings.Contains(o.stdout, `"connections_opened":5`) {
		t.Errorf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}

func TestRequestFlagsThatDoNotGoTogether(t *testing.T) {
	path := write(t, "a.fbf", 1, 0)
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"--to", "localhost:1", "--data", "x", path}, "--data is about the requests for a URL"},
		{[]string{"--to", "localhost:1", "-X", "PUT", path}, "--request is about the requests for a URL"},
		{[]string{"-X", "a b", "-n", "1", "http://localhost:1"}, "'a b' is not a method"},
		{[]string{"--data", "x", "--data-template", "x", "-n", "1", "http://localhost:1"}, "exclude one another"},
		{[]string{"--data-csv", "x", "-n", "1", "http://localhost:1"}, "expected both"},
		{[]string{"--data", "@/none", "-n", "1", "http://localhost:1"}, "--data: open /none"},
		{[]string{"--data-template", "x", "--data-csv", os.DevNull, "-n", "1", "http://localhost:1"}, "--data-csv: " + os.DevNull + ": the table has no rows"},
		{[]string{"--data-template", "{{", "-n", "1", "http://localhost:1"}, "--data-template: "},
		{[]string{"--rewrite", "x", "-n", "1", "http://localhost:1"}, "is not a substitution"},
	} {
		if o := replay(t, tc.args...); o.status != exitNotStarted || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("%v: status %d, %s", tc.args, o.status, o.stderr)
		}
	}
}

func keyPEM(t *testing.T, certificate tls.Certificate) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
