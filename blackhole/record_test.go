// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestRequestIsRecordedAsItCame(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nrecord "+dir+"\n}")
	body := make([]byte, 256)
	for i := range body {
		body[i] = byte(i)
	}
	before := time.Now()
	_, conn := roundTrip(t, addr, "POST", "POST /orders//a%20b?q=a%2Fb;c&plus=+ HTTP/1.1\r\nhost: shop.test\r\nX-Tag: one\r\nAccept: */*\r\n"+
		"X-Tag: two\r\ncookie: id=1; id=2; =x; bad\r\nX-Latin: \xe9t\xe9\r\nX-Empty:\r\nContent-Length: 256\r\n\r\n"+string(body))
	stop(t)
	got := one(t, dir)
	want := recorded{
		id: got.id, method: "POST", uri: "/orders//a%20b?q=a%2Fb;c&plus=+",
		headers: "Host: shop.test\r\nAccept: */*\r\nContent-Length: 256\r\nCookie: id=1; id=2; =x; bad\r\nX-Empty: \r\nX-Latin: \xe9t\xe9\r\nX-Tag: one\r\nX-Tag: two\r\n",
		body:    string(body), scheme: "http", host: "shop.test", proto: "HTTP/1.1", remote: conn.LocalAddr().String(), size: 256, time: got.time,
	}
	if got != want || len(got.id) != 32 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.time.Before(before) || got.time.After(time.Now()) {
		t.Errorf("got time %s", got.time)
	}
}

func TestChunkedWithTrailersAndExpect(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nrecord "+dir+"\n}")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, X-End\r\nExpect: 100-continue\r\n\r\n")
	interim := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(conn, interim); err != nil || string(interim) != "HTTP/1.1 100 Continue\r\n\r\n" {
		t.Fatalf("got %q, error %v", interim, err)
	}
	fmt.Fprintf(conn, "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-Sum: 7\r\nX-End: yes\r\nX-Sum: 8\r\n\r\n")
	answer := make([]byte, 15)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 200 OK" {
		t.Fatalf("got %q, error %v", answer, err)
	}
	stop(t)
	got := one(t, dir)
	if got.body != "abcdefg" || got.size != 7 || got.trailers != "X-End: yes\r\nX-Sum: 7\r\nX-Sum: 8\r\n" ||
		got.headers != "Host: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\nTrailer: X-End, X-Sum\r\n" {
		t.Errorf("got %+v", got)
	}
}

// TestTargetOfAMirror holds who may say what the target was: nobody, unless
// original_uri names the field, and then only what is one.
func TestTargetOfAMirror(t *testing.T) {
	for _, tc := range []struct{ option, original, want string }{
		{"", "/admin/delete-all", "/mirror"},
		{"original_uri X-Original-URI", "/real/path?x=1", "/real/path?x=1"},
		{"original_uri x-real-target", "/real", "/mirror"},
		{"original_uri X-Original-URI", "https://shop.test/real", "https://shop.test/real"},
		{"original_uri X-Original-URI", "", "/mirror"},
		{"original_uri X-Original-URI", "not a uri", "/mirror"},
		{"original_uri X-Original-URI", "/with space", "/mirror"},
		{"original_uri X-Original-URI", "real", "/mirror"},
		{"original_uri X-Original-URI", "javascript:x", "/mirror"},
		{"original_uri X-Original-URI", "//%zz", "/mirror"},
		{"original_uri X-Original-URI\nredact x-original-uri", "/secret", "/mirror"},
	} {
		dir := t.TempDir()
		_, addr := start(t, "blackhole {\nrecord "+dir+" {\n"+tc.option+"\n}\n}")
		raw := "GET /mirror HTTP/1.1\r\nHost: h\r\nX-Request-ID: order-17\r\nX-Original-URI: " + tc.original + "\r\n\r\n"
		_, conn := roundTrip(t, addr, "GET", raw)
		if _, err := io.WriteString(conn, raw); err != nil { // express if it can
			t.Fatal(err)
		}
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Fatal(err)
		}
		stop(t)
		got := records(t, dir)
		if len(got) != 2 {
			t.Fatalf("%s: got %d records", tc.option, len(got))
		}
		for _, r := range got {
			if r.id != "order-17" || r.uri != tc.want || strings.Contains(fmt.Sprint(r), "/secret") {
				t.Errorf("%q, %q: got %+v", tc.option, tc.original, r)
			}
		}
	}
}

// TestRedactedWhereverItStands sends secrets in each place that a record has.
func TestRedactedWhereverItStands(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, `blackhole {
		record `+dir+` {
			redact Host X-Request-ID Authorization
			redact_query token "odd name"
			redact_json $.card.number $.items[*].code "$['odd name']"
		}
	}`)
	send := func(conn net.Conn, kind, body string) {
		fmt.Fprintf(conn, "POST http://secret.test/a?b=1&token=secret&odd%%20name=secret&c HTTP/1.1\r\nHost: secret.test\r\nX-Request-ID: secret\r\n"+
			"Authorization: secret\r\nReferer: https://other.test/x?token=secret&y=2#z\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body)
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 200 {
			t.Fatalf("got %v, error %v", resp, err)
		}
	}
	conn := connect(t, addr, false)
	bodies := []struct{ kind, body, want string }{
		{
			"application/json", `{"card":{"number":"secret","cvc":1},"items":[{"code":12345,"n":1},{"code":{"x":["secret"]}}],"odd name":"secret"}`,
			`{"card":{"number":"REDACTED","cvc":1},"items":[{"code":"REDACTED","n":1},{"code":"REDACTED"}],"odd name":"REDACTED"}`,
		},
		{"application/x-www-form-urlencoded", "user=me&token=secret", "user=me&token=REDACTED"},
		{"text/plain", "nothing to hide", "nothing to hide"},
	}
	for _, tc := range bodies {
		send(conn, tc.kind, tc.body)
	}
	stop(t)
	got := records(t, dir)
	if len(got) != len(bodies) {
		t.Fatalf("got %d records", len(got))
	}
	for i, r := range got {
		if strings.Contains(fmt.Sprint(r), "secret") || r.host != "REDACTED" || r.uri != "http://REDACTED/a?b=1&token=REDACTED&odd%20name=REDACTED&c" || len(r.id) != 32 {
			t.Errorf("got %+v", r)
		}
		if r.body != bodies[i].want || r.size != uint64(len(r.body)) || r.truncated ||
			!strings.Contains(r.headers, fmt.Sprintf("Content-Length: %d\r\n", len(r.body))) || !strings.Contains(r.headers, "Referer: https://other.test/x?token=REDACTED&y=2#z\r\n") {
			t.Errorf("got %+v, want the body %q", r, bodies[i].want)
		}
	}
}

// TestNoLineBreakReachesTheHeader has another handler make one.
func TestNoLineBreakReachesTheHeader(t *testing.T) {
	dir := t.TempDir()
	onCaddysPath(t) // express is without other handlers
	_, addr := start(t, "request_header Host {query.h}\nrequest_header X-Made {query.h}\nblackhole {\nrecord "+dir+"\n}")
	roundTrip(t, addr, "GET", "GET /?h=a%0d%0aX-Injected:%20yes HTTP/1.1\r\nHost: h\r\n\r\n")
	stop(t)
	if got := one(t, dir); strings.Contains(got.headers, "\nX-Injected") || !strings.Contains(got.headers, "X-Made: a  X-Injected: yes\r\n") {
		t.Errorf("got headers %q", got.headers)
	}
}

// TestHintAtFieldsThatCaddyDrops holds what is said at load, and that it is true.
func TestHintAtFieldsThatCaddyDrops(t *testing.T) {
	const hint = "are not recorded: Caddy drops them"
	for option, hinted := range map[string]bool{"": true, "{\nservers {\nexpected_underscore_headers X_Tenant_Id\n}\n}\n": false} {
		dir := t.TempDir()
		addr := caddytest.Addr(t)
		s := caddytest.Run(t, option+site(addr, "blackhole {\nrecord "+dir+"\n}"))
		roundTrip(t, addr, "GET", "GET / HTTP/1.1\r\nHost: h\r\nX_Tenant_Id: 7\r\n\r\n")
		logs := s.Logs()
		stop(t)
		if got := one(t, dir); strings.Contains(logs, hint) != hinted || strings.Contains(got.headers, ": 7\r\n") == hinted {
			t.Errorf("%q: got headers %q and the log\n%s", option, got.headers, logs)
		}
	}
}

func TestClientThatBreaksOff(t *testing.T) {
	for name, raw := range map[string]string{
		"length":  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc",
		"chunked": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, addr := start(t, "blackhole {\nrecord "+dir+"\n}")
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, raw); err != nil {
				t.Fatal(err)
			}
			conn.Close()
			eventually(t, "a file", func() bool { return len(files(t, dir)) > 0 })
			stop(t)
			if got := one(t, dir); got.body != "abc" || got.size != 3 || got.err != "after 3 bytes of the body: unexpected EOF" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// files returns the names in the directory.
func files(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBodyLimitOfAnotherHandler(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, "request_body {\nmax_size 10KB\n}\nblackhole {\nrecord "+dir+"\n}")
	for _, tc := range []struct{ size, status int }{{10_000, 200}, {10_001, 413}} {
		if status, _ := post(t, "http://"+addr+"/", strings.Repeat("x", tc.size)); status != tc.status {
			t.Errorf("%d bytes: got status %d, want %d", tc.size, status, tc.status)
		}
	}
	resp, err := http.Post("http://"+addr+"/", "", io.MultiReader(strings.NewReader(strings.Repeat("x", 20_000)))) // chunked
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("chunked: got status %d", resp.StatusCode)
		}
	}
	stop(t)
	whole := 0
	for _, r := range records(t, dir) {
		switch r.err {
		case "":
			whole++
		case "after 10000 bytes of the body: http: request body too large":
		default:
			t.Errorf("got error %q", r.err)
		}
	}
	if whole != 1 {
		t.Errorf("got %d whole records, want 1", whole)
	}
}

// TestLargeBodies has bodies of which more is sent than is kept: the memory does
// not depend on it, and what is kept is right.
func TestLargeBodies(t *testing.T) {
	const keptAtMost, grows = 5 << 20, 256 << 20
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nrecord "+dir+" {\nmax_body 5MiB\n}\n}")
	part := make([]byte, 4<<20)
	_, _ = rand.Read(part)
	times := []int{1, 1, 10, 10, 150} // how often the part is sent
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, n := range times {
		parts := make([]io.Reader, n)
		for k := range parts {
			parts[k] = bytes.NewReader(part)
		}
		r, err := http.NewRequest(http.MethodPost, "http://"+addr+"/", io.MultiReader(parts...))
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // otherwise it is chunked
			r.ContentLength = int64(n) * int64(len(part))
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("got status %d", resp.StatusCode)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > grows {
		t.Errorf("memory grew by %d bytes while the last body alone had %d", grown, times[len(times)-1]*len(part))
	}
	stop(t)
	got := records(t, dir)
	if len(got) != len(times) {
		t.Fatalf("got %d records", len(got))
	}
	for i, r := range got {
		size := times[i] * len(part)
		kept := append(slices.Clone(part), part...)[:min(size, keptAtMost)]
		if r.body != string(kept) || r.size != uint64(size) || r.truncated != (size > keptAtMost) || r.err != "" {
			t.Errorf("record %d: %d of %d bytes, truncated %v, error %q", i, len(r.body), r.size, r.truncated, r.err)
		}
	}
}

func TestPercentAndRedact(t *testing.T) {
	none, some, all := t.TempDir(), t.TempDir(), t.TempDir()
	_, addr := start(t, fmt.Sprintf(`
	blackhole /none {
		percent 0
		record %s
	}
	blackhole /some {
		percent 50
		record %s
	}
	blackhole {
		percent 100%%
		record %s {
			redact Authorization cookie
		}
	}`, none, some, all))
	for _, path := range []string{"/none", "/some", "/all"} {
		http.DefaultClient.CloseIdleConnections() // a connection belongs to one of them
		for i := range 200 {
			request, _ := http.NewRequest("GET", fmt.Sprint("http://", addr, path, "?i=", i), nil)
			request.Header.Set("Authorization", "Bearer secret")
			request.Header.Set("Cookie", "session=secret")
			resp, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	stop(t)
	if got := records(t, none); len(got) != 0 {
		t.Errorf("got %d records of 0%%", len(got))
	}
	if got := len(records(t, some)); got < 50 || got > 150 { // 7 standard deviations
		t.Errorf("got %d records of 50%% of 200", got)
	}
	got := records(t, all)
	if len(got) != 200 {
		t.Errorf("got %d records of 100%%", len(got))
	}
	for _, r := range got {
		if strings.Contains(r.headers, "secret") || !strings.Contains(r.headers, "Authorization: REDACTED\r\nCookie: REDACTED\r\n") {
			t.Errorf("got headers %q", r.headers)
			break
		}
	}
}

func TestDirectoryFromTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BLACKHOLE_TEST_DIR", dir)
	_, addr := start(t, "blackhole {\nrecord {env.BLACKHOLE_TEST_DIR}/inner\n}")
	post(t, "http://"+addr+"/", "x")
	stop(t)
	if got := one(t, filepath.Join(dir, "inner")); got.body != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestValidateMakesNothing(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "requests_20261101T000000Z_000001-0000000a.fbf.lz4.tmp")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{dir, filepath.Join(dir, "a", "b")} {
		if err := caddytest.Validate(site("127.0.0.1:1", "blackhole {\nrecord "+record+" {\nkeep 1\n}\n}")); err != nil {
			t.Error(err)
		}
	}
	if got := files(t, dir); len(got) != 1 || got[0] != left {
		t.Errorf("got %q", got)
	}
}

func TestLeftBehindIsFinishedWithoutAnyRequest(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nrecord "+dir+"\n}")
	post(t, "http://"+addr+"/", "x")
	stop(t)
	whole := files(t, dir)[0]
	if err := os.Rename(whole, whole+".tmp"); err != nil {
		t.Fatal(err)
	}
	caddytest.Run(t, site(addr, "blackhole {\nrecord "+dir+"\n}"))
	eventually(t, "the file is finished", func() bool { _, err := os.Stat(whole); return err == nil })
}
