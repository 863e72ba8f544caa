// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestConnectionOnEachPath makes the same requests on one connection, on
// Caddy's path and on connections that are taken over, and compares answers
// and records.
func TestConnectionOnEachPath(t *testing.T) {
	onCaddysPath(t) // this test says itself where express is
	const options = "status 202\nheader X-Tag one\nheader X-Tag two\nbody taken\n"
	for _, path := range []string{"normal", "express", "express over TLS"} {
		t.Run(path, func(t *testing.T) {
			dir := t.TempDir()
			addr := caddytest.Addr(t)
			directives := "blackhole {\n" + options + "record " + dir + " {\noriginal_uri X-Original-URI\n}\n}"
			if path != "normal" {
				directives = strings.Replace(directives, "{\n", "{\nexpress\n", 1)
			}
			secure := path == "express over TLS"
			config := site(addr, directives)
			if secure {
				config = "{\nskip_install_trust\n}\nhttps://" + addr + " {\ntls internal\n" + directives + "\n}"
			}
			caddytest.Run(t, config)
			conn := connect(t, addr, secure)
			in := bufio.NewReader(conn)
			for i, request := range []struct{ method, rest string }{
				{"GET", " /first HTTP/1.1\r\nHost: HOST\r\n\r\n"},
				{"POST", " /second?a=b HTTP/1.1\r\nhost: HOST\r\nx-b: 1\r\nX-A: 2\r\nContent-Length: 3\r\n\r\nabc"},
				{"PUT", " /third HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
				{"HEAD", " /fourth HTTP/1.1\r\nHost: HOST\r\nX-Request-ID: mine\r\nX-Original-URI: /real\r\n\r\n"},
				{"DELETE", " /fifth HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"},
			} {
				fmt.Fprint(conn, request.method+strings.ReplaceAll(request.rest, "HOST", addr))
				resp, err := http.ReadResponse(in, &http.Request{Method: request.method})
				if err != nil {
					t.Fatal(err)
				}
				body := make([]byte, 5)
				n, _ := resp.Body.Read(body)
				resp.Body.Close()
				want := "taken"
				if request.method == "HEAD" {
					want = ""
				}
				if resp.StatusCode != 202 || string(body[:n]) != want || resp.ContentLength != 5 || resp.Close != (i == 4) ||
					fmt.Sprint(resp.Header["X-Tag"]) != "[one two]" || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
					t.Errorf("%s%.20s: got %d %q %v", request.method, request.rest, resp.StatusCode, body[:n], resp.Header)
				}
			}
			stop(t)
			checkRecords(t, records(t, dir), secure)
		})
	}
}

func checkRecords(t *testing.T, got []recorded, secure bool) {
	t.Helper()
	scheme := "http"
	if secure {
		scheme = "https"
	}
	var lines []string
	for _, r := range got {
		lines = append(lines, fmt.Sprintf("%s %s %s %q", r.method, r.uri, r.proto, r.body))
		if r.scheme != scheme || r.remote == "" || r.err != "" || !strings.HasPrefix(r.headers, "Host: "+r.host+"\r\n") ||
			strings.Count(strings.ToLower(r.headers), "host: ") != 1 {
			t.Errorf("got %+v", r)
		}
	}
	want := []string{
		`GET /first HTTP/1.1 ""`, `POST /second?a=b HTTP/1.1 "abc"`, `PUT /third HTTP/1.1 "abc"`,
		`HEAD /real HTTP/1.1 ""`, `DELETE /fifth HTTP/1.1 ""`,
	}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("got records\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if len(got) > 3 && got[3].id != "mine" {
		t.Errorf("got id %q", got[3].id)
	}
}

// connect opens a connection, as soon as there is a certificate if it needs one.
func connect(t *testing.T, addr string, secure bool) (conn net.Conn) {
	t.Helper()
	eventually(t, "a connection", func() (connected bool) {
		var err error
		if secure {
			conn, err = tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		} else {
			conn, err = net.Dial("tcp", addr)
		}
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestExpressRecordsFieldsAsTheyCame holds what only the express path knows:
// the order of the header fields and their names as they were written.
func TestExpressRecordsFieldsAsTheyCame(t *testing.T) {
	onCaddysPath(t)
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nexpress\nrecord "+dir+"\n}")
	conn := connect(t, addr, false)
	in := bufio.NewReader(conn)
	for range 2 {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nx-last: 1\r\nhost: h.test\r\nX-First: 2\r\nx-last: 3\r\n\r\n")
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
	}
	stop(t)
	all := records(t, dir)
	if len(all) != 2 || all[1].headers != "Host: h.test\r\nx-last: 1\r\nX-First: 2\r\nx-last: 3\r\n" {
		t.Errorf("got %+v", all)
	}
}
