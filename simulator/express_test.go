// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// oneOfEach are the lines of a simulator that has some of everything.
func oneOfEach(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte(strings.Repeat("f", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	mappings := stubFile(t, `{"mappings": [
		{"request": {"method": "POST", "url": "/echo", "headers": {"X-Want": {"equalTo": "it"}}},
		 "response": {"status": 200, "body": "{{request.body}} for {{request.headers.X-Want}}", "transformers": ["response-template"]}},
		{"request": {"method": "POST", "url": "/pay", "bodyPatterns": [{"equalToJson": {"a": 1}}]}, "response": {"status": 202, "body": "paid"}}]}`)
	return `simulator {
	admin
	mappings ` + mappings + `
	seed 7
	route /json {
		body "{\"a\": 1}"
		header X-Tag one
		header X-Tag two
		header Server Other
		stage 0 200
	}
	route /gone {
		stage 0 404
	}
	route /none {
		body ignored
		stage 0 204
	}
	route /slow {
		body late
		stage 0 503 50ms
	}
	route /paced {
		body paced
		stage 0 200 {
			dribble 3 30ms
		}
	}
	route /file {
		body_file ` + file + `
		stage 0 200
	}
	route /random {
		random_content 1kb..200kb
		stage 0 200
	}
	route /last {
		header Connection close
		body bye
		stage 0 200
	}
}`
}

// TestOneConnectionOnEachPath makes the same requests on one connection on
// Caddy's path, on one that was taken over, and on one with TLS.
func TestOneConnectionOnEachPath(t *testing.T) {
	onCaddysPath(t) // this test says itself where express is
	lines := oneOfEach(t)
	express := strings.Replace(lines, "admin\n", "admin\n\texpress\n", 1)
	addrs := []string{caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)}
	for i := range addrs {
		_, port, _ := net.SplitHostPort(addrs[i])
		addrs[i] = "localhost:" + port
	}
	caddytest.Run(t, "{\nskip_install_trust\ndefault_bind 127.0.0.1\n}\n"+
		site(addrs[0], lines)+site(addrs[1], express)+"https://"+addrs[2]+" {\ntls internal\n"+express+"\n}")
	requests := []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /json?q=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"HEAD /json HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
		"POST /json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"BREW /gone HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /paced HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"HEAD /paced HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"HEAD /file HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: localhost\r\nx-want: it\r\nContent-Length: 5\r\n\r\nhello",
		"POST /pay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n{\"a\": 1}",
		"POST /pay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n{\"a\": 2}",
		"GET /_admin/current_count HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /json HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /last HTTP/1.1\r\nHost: localhost\r\n\r\n",
	}
	want := transcript(t, addrs[0], false, requests)
	for i, path := range []string{"express", "express over TLS"} {
		got := transcript(t, addrs[i+1], i == 1, requests)
		for i := range requests {
			if got[i] != want[i] {
				t.Errorf("%s, %.40q: got\n%.600s\nbut on Caddy's path\n%.600s", path, requests[i], got[i], want[i])
			}
		}
	}
}

// transcript makes requests on one connection and tells the answers.
func transcript(t *testing.T, addr string, secure bool, requests []string) []string {
	t.Helper()
	var conn net.Conn
	eventually(t, func() bool {
		var err error
		if secure {
			conn, err = tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		} else {
			conn, err = net.Dial("tcp", addr)
		}
		return err == nil
	})
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewReader(conn)
	var all []string
	for _, request := range requests {
		method, _, _ := strings.Cut(request, " ")
		fmt.Fprint(conn, request)
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%.40q: %v", request, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatalf("%.40q: %v", request, err)
		}
		resp.Header.Del("Date")
		resp.Header.Del("Alt-Svc") // of sites with TLS
		var fields []string
		for name, values := range resp.Header {
			fields = append(fields, fmt.Sprint(name, values))
		}
		slices.Sort(fields)
		all = append(all, fmt.Sprintf("%s %d close=%v %v %q", resp.Status, resp.ContentLength, resp.Close, fields, body))
	}
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("behind the last answer came %q, %v", rest, err)
	}
	return all
}

// TestClientsBehindTrustedProxies holds that mappings see the client that Caddy
// takes for it, on each path.
func TestClientsBehindTrustedProxies(t *testing.T) {
	addr := caddytest.Addr(t)
	stubs := stubFile(t, `{"request": {"url": "/ip"}, "response": {"status": 200, "body": "{{request.clientIp}}", "transformers": ["response-template"]}}`)
	caddytest.Run(t, "{\nservers {\ntrusted_proxies static 127.0.0.0/8\n}\n}\n"+site(addr, "simulator {\nmappings "+stubs+"\n}"))
	all := transcript(t, addr, false, []string{
		"GET /ip HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"GET /ip HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n",
		"GET /ip HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
	})
	for i, want := range []string{"127.0.0.1", "192.0.2.7", "127.0.0.1"} {
		if !strings.Contains(all[i], `"`+want+`"`) {
			t.Errorf("request %d: got %s, want %s", i, all[i], want)
		}
	}
}

// TestStatusMessages holds that a mapping's words for the status are sent where no
// http.ResponseWriter stands between: on connections that express takes over, and
// where a fault is written.
func TestStatusMessages(t *testing.T) {
	onCaddysPath(t) // this test says itself where express is
	stubs := stubFile(t, `{"mappings": [
		{"request": {"url": "/a"}, "response": {"status": 202, "statusMessage": "Taken in,\r\nX-More: as it is", "body": "a"}},
		{"request": {"url": "/b"}, "response": {"statusMessage": "Fine", "body": "{{request.url}}", "headers": {"X": "{{request.url}}"}, "transformers": ["response-template"]}},
		{"request": {"url": "/c"}, "response": {"statusMessage": "OK"}},
		{"request": {"url": "/d"}, "response": {"statusMessage": "Torn", "fault": "MALFORMED_RESPONSE_CHUNK"}}]}`)
	addr := caddytest.Addr(t)
	caddytest.Run(t, site(addr, "simulator {\nexpress\nmappings "+stubs+"\n}"))
	get := func(path, more string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more + "\r\n"
	}
	all := transcript(t, addr, false, []string{get("/a", ""), get("/a", ""), get("/b", ""), get("/c", ""), get("/none", ""), get("/a", "Connection: close\r\n")})
	for i, want := range []string{"202 Taken in,  X-More: as it is", "202 Taken in,  X-More: as it is", "200 Fine", "200 OK", "404 Not Found", "202 Taken in,  X-More: as it is"} {
		if !strings.HasPrefix(all[i], want+" ") || strings.Contains(all[i], "X-More[") {
			t.Errorf("request %d: got %s, want %s", i, all[i], want)
		}
	}
	if all := transcript(t, addr, false, []string{get("/a", "Connection: close\r\n")}); !strings.HasPrefix(all[0], "202 Accepted ") {
		t.Errorf("on a connection that is not taken over: got %s", all[0])
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprint(conn, get("/d", ""))
	if got, _ := bufio.NewReader(conn).ReadString('\n'); got != "HTTP/1.1 200 Torn\r\n" {
		t.Errorf("with a fault: got %q", got)
	}
}
