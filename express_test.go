// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// neighbours are what a site may have beside a handler with express: the lines
// of the site, and what the log then says stands in the way.
var neighbours = []struct{ name, site, inTheWay string }{
	{"nothing", "HANDLER", ""},
	{"log", "log\nHANDLER", ""},
	{"basic_auth", "basic_auth {\nbob HASH\n}\nHANDLER", "authentication"},
	{"forward_auth", "forward_auth AUTH {\nuri /auth\n}\nHANDLER", "reverse_proxy"},
	{"remote_ip", "@near remote_ip 10.0.0.0/8\nhandle @near {\nrespond near\n}\nhandle {\nHANDLER\n}", "matcher remote_ip"},
	{"request_body", "request_body {\nmax_size 10\n}\nHANDLER", "request_body"},
	{"header", "@api path /api/*\nheader @api X-A b\nHANDLER", "matcher path"},
	{"header everywhere", "header X-A b\nHANDLER", "headers"},
	{"rewrite", "rewrite /a /b\nHANDLER", "rewrite"},
	{"handle_path", "handle_path /api/* {\nHANDLER\n}\nhandle {\nrespond other 404\n}", "matcher path"},
	{"tee", "tee AUTH\nHANDLER", "tee"},
	{"encode", "encode gzip {\nminimum_length 1\n}\nHANDLER", "encode"},
	{"vars", "vars a b\nHANDLER", "vars"},
	{"intercept", "intercept {\n@ok status 200\nreplace_status @ok 299\n}\nHANDLER", "intercept"},
	{"invoke", "invoke named\nHANDLER", "invoke"},
	{"error", "error /api/* 418\nHANDLER", "error"},
	{"handle_errors", "request_body {\nmax_size 10\n}\nHANDLER\nhandle_errors {\nrespond \"so {err.status_code}\"\n}", "handle_errors"},
	{"other site", "HANDLER\n}\nhttp://other.test:PORT {\nbind 127.0.0.1\nrespond other", "static_response of other.test"},
	{"other path", "handle /api/* {\nrespond other\n}\nhandle {\nHANDLER\n}", "static_response"},
}

// TestExpressChangesNoResponse makes the same requests to a site with express
// and to one without, on one connection to each and through a proxy that keeps
// its connections for everybody.
func TestExpressChangesNoResponse(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for _, handler := range []string{"simulator {\nbody hello\nstage 0 200\n", "blackhole {\nbody hello\n"} {
		name, _, _ := strings.Cut(handler, " ")
		for _, tc := range neighbours {
			t.Run(name+" beside "+tc.name, func(t *testing.T) {
				auth, plain, express, behind := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t), [2]string{caddytest.Addr(t), caddytest.Addr(t)}
				site := func(addr, option string) string {
					_, port, _ := net.SplitHostPort(addr)
					return strings.NewReplacer("HANDLER", handler+option+"}", "HASH", string(hash), "AUTH", auth, "PORT", port).
						Replace("http://:" + port + " {\nbind 127.0.0.1\n" + tc.site + "\n}\n")
				}
				s := caddytest.Run(t, "&(named) {\nheader X-Named yes\n}\n"+
					"http://"+auth+" {\n@in header Authorization *\nrespond @in 204\nrespond 401\n}\n"+
					site(plain, "")+site(express, "express\n")+
					"http://:"+portOf(behind[0])+" {\nreverse_proxy "+plain+"\n}\n"+
					"http://:"+portOf(behind[1])+" {\nreverse_proxy "+express+"\n}\n")
				for _, pair := range [][2]string{{plain, express}, behind} {
					want, got := visit(t, pair[0]), visit(t, pair[1])
					for i := range want {
						if got[i] != want[i] {
							t.Errorf("request %d: with express\n%s\nwithout\n%s", i, got[i], want[i])
						}
					}
				}
				warned := strings.Count(s.Logs(), "express takes no connection over")
				if tc.inTheWay == "" && warned != 0 || tc.inTheWay != "" && (warned != 1 || !strings.Contains(s.Logs(), `"`+tc.inTheWay+`"`)) {
					t.Errorf("%d warnings, want one that names %q; the log:\n%s", warned, tc.inTheWay, s.Logs())
				}
			})
		}
	}
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// visit makes requests on one connection, as long as it lasts, and returns the
// responses as text.
func visit(t *testing.T, addr string) (responses []string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for _, request := range []struct{ method, target, host, password, body string }{
		{"GET", "/", "", "", ""},
		{"GET", "/", "", "secret", ""},
		{"GET", "/", "", "", ""},
		{"POST", "/a", "", "secret", strings.Repeat("x", 100)},
		{"GET", "/api/a", "", "secret", ""},
		{"GET", "/", "other.test", "secret", ""},
		{"GET", "/api/a", "", "wrong", ""},
	} {
		r, err := http.NewRequest(request.method, "http://"+addr+request.target, strings.NewReader(request.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = request.host
		r.Header.Set("Accept-Encoding", "gzip")
		if request.password != "" {
			r.SetBasicAuth("bob", request.password)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		resp.Header.Del("Date")
		var fields []string
		for name, values := range resp.Header {
			fields = append(fields, fmt.Sprint(name, values))
		}
		slices.Sort(fields)
		responses = append(responses, fmt.Sprintf("%d %d %v %q", resp.StatusCode, resp.ContentLength, fields, body))
	}
	return responses
}
