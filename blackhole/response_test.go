// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAnyRequestIsAnswered(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nrecord "+dir+"\n}")
	want := []string{
		"GET / HTTP/1.1", "get / HTTP/1.1", "BAN /x HTTP/1.1", "PROPFIND /x HTTP/1.1", "OPTIONS /x HTTP/1.1", "OPTIONS * HTTP/1.1",
		"TRACE /x HTTP/1.1", "CONNECT shop.test:443 HTTP/1.1", "HEAD /x HTTP/1.1", "DELETE //a/../b HTTP/1.1",
		"GET http://other.test/absolute?q HTTP/1.1", "PATCH /%zz?%zz HTTP/1.1", "GET /a%20b?c=d;e=%2F&&f HTTP/1.1", "GET /p HTTP/1.0",
	}
	var passed []string
	for _, line := range want {
		method, _, _ := strings.Cut(line, " ")
		resp, _ := roundTrip(t, addr, method, line+"\r\nHost: "+addr+"\r\nContent-Length: 0\r\n\r\n")
		if line == "PATCH /%zz?%zz HTTP/1.1" { // no URL: net/http refuses it
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: got status %d", line, resp.StatusCode)
			}
			continue
		}
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: got status %d", line, resp.StatusCode)
		}
		if line != "OPTIONS * HTTP/1.1" { // net/http answers it itself
			passed = append(passed, line)
		}
	}
	stop(t)
	got := records(t, dir)
	if len(got) != len(passed) {
		t.Fatalf("got %d records, want %d", len(got), len(passed))
	}
	for i, r := range got {
		if line := r.method + " " + r.uri + " " + r.proto; line != passed[i] {
			t.Errorf("got %q, want %q", line, passed[i])
		}
	}
}

func TestConnectOpensNoTunnel(t *testing.T) {
	_, addr := start(t, "blackhole {\nbody answer\n}")
	resp, conn := roundTrip(t, addr, "CONNECT", "CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n")
	if resp.StatusCode != http.StatusOK || resp.ContentLength > 0 || !resp.Close {
		t.Errorf("got %v", resp)
	}
	_, _ = io.WriteString(conn, "bytes for the tunnel")
	if rest, err := io.ReadAll(conn); err == nil && len(rest) > 0 {
		t.Errorf("got %q through the tunnel", rest)
	}
}

func TestAnswerIsAsConfigured(t *testing.T) {
	_, addr := start(t, `
	blackhole /empty
	blackhole /none {
		status 204
		body ignored
	}
	blackhole {
		status 503
		header Retry-After 7
		header X-Tag one
		header X-Tag two
		body "try again"
	}`)
	for _, tc := range []struct {
		method, path, body, contentType, length, retry string
		status                                         int
	}{
		{"GET", "/empty", "", "", "0", "", 200},
		{"POST", "/none", "", "", "", "", 204},
		{"POST", "/x", "try again", "text/plain; charset=utf-8", "9", "7", 503},
		{"HEAD", "/x", "", "text/plain; charset=utf-8", "9", "7", 503},
	} {
		for range 2 {
			request, _ := http.NewRequest(tc.method, "http://"+addr+tc.path, strings.NewReader("x"))
			resp, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != tc.status || string(body) != tc.body || resp.Header.Get("Content-Type") != tc.contentType ||
				resp.Header.Get("Content-Length") != tc.length || resp.Header.Get("Retry-After") != tc.retry {
				t.Errorf("%s %s: got %d, %q, %v", tc.method, tc.path, resp.StatusCode, body, resp.Header)
			}
			if tags := resp.Header["X-Tag"]; tc.retry != "" && (len(tags) != 2 || tags[0] != "one" || tags[1] != "two") {
				t.Errorf("%s %s: got tags %q", tc.method, tc.path, tags)
			}
		}
	}
}

// TestHeaderChangedByAnotherHandler has a handler change the answer's header in place.
func TestHeaderChangedByAnotherHandler(t *testing.T) {
	_, addr := start(t, `
	header >X-Tag a b
	blackhole {
		header X-Tag aa
	}`)
	for range 3 {
		resp, err := http.Get("http://" + addr + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("X-Tag"); got != "bb" {
			t.Errorf("got %q", got)
		}
	}
}

func TestConnectionGoesOnAfterALargeBody(t *testing.T) {
	_, addr := start(t, "blackhole {\nstatus 404\n}")
	body := strings.Repeat("x", 20<<20)
	for range 2 {
		if status, _ := post(t, "http://"+addr+"/", body); status != 404 {
			t.Errorf("got status %d", status)
		}
	}
}
