// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestOutcomesExample makes 2,000 requests of each route of the example, among the
// long checks 10,000, and counts, as a client, what became of them: shares within
// three standard deviations, and of the first ones exactly as many as there should
// be.
func TestOutcomesExample(t *testing.T) {
	addr := caddytest.Addr(t)
	url := "http://" + addr
	caddytest.Run(t, withExpress(readExample(t, "../examples/outcomes/outcomes.Caddyfile",
		"127.0.0.1:8080", addr, "admin\n", "admin\nseed 1\n", "5ms", "1ms", "=12ms", "=1ms", "=30ms", "=2ms", "=80ms", "=5ms")))
	share := func(what string, got int, p float64) {
		if off := math.Abs(float64(got) - requests*p); off > 3*math.Sqrt(requests*p*(1-p)) {
			t.Errorf("%s were %d of %d, want %v%%", what, got, requests, 100*p)
		}
	}
	busy := count(t, url+"/busy")
	share("turned away", busy["503 Retry-After=1"], .03)
	share("served", busy["200"], .97)

	cold := count(t, url+"/cold")
	if want := map[string]int{"503": 200, "200": requests - 200}; !maps.Equal(cold, want) {
		t.Errorf("the first two of 100 users got %v, want %v", cold, want)
	}

	torn := count(t, url+"/torn")
	share("cut", torn["200 cut at 50%"], .1)
	share("whole", torn["200"], .9)

	onAnotherConnection()
	if _, counts := get(t, url+"/_admin/current_count"); !strings.Contains(counts, `"branches":{"1":`) {
		t.Errorf("counted %s", counts)
	}
}

// count makes requests for a URL, as 20 clients at a time and 100 users,
// and returns how often each thing happened.
func count(t *testing.T, url string) map[string]int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	all := make(map[string]int)
	var mu sync.Mutex
	var group sync.WaitGroup
	for c := range 20 {
		group.Go(func() {
			for i := range requests / 20 {
				req, _ := http.NewRequest(http.MethodGet, url, nil)
				req.Header.Set("X-User", fmt.Sprint((c*requests/20+i)%100))
				got := happened(client, req)
				mu.Lock()
				all[got]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// happened returns what a client sees of a request.
func happened(client *http.Client, req *http.Request) string {
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	got := fmt.Sprint(resp.StatusCode)
	if after := resp.Header.Get("Retry-After"); after != "" {
		got += " Retry-After=" + after
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("%s cut at %d%%", got, 100*(len(body)+1)/int(resp.ContentLength))
	}
	if err != nil || resp.ContentLength != int64(len(body)) {
		return fmt.Sprint(got, err, len(body))
	}
	return got
}

// deliveries are the lines of a simulator with every way to deliver a body.
func deliveries(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "ten")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, []byte(strings.Repeat("0123456789", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	route := func(path, content, stage string) string {
		return "route " + path + " {\n" + content + "\nstage 0 200 {\n" + stage + "\n}\n}"
	}
	return strings.Join([]string{
		"simulator {",
		route("/cut", "body 0123456789", "fault cut"),
		route("/cut/head", "body 0123456789", "fault cut 0"),
		route("/cut/most", "body 0123456789", "fault cut 99.9"),
		route("/cut/slow", "body 0123456789", "fault cut 30\ndribble 3 30ms"),
		route("/cut/chunks", "body 0123456789", "fault cut\nchunked"),
		route("/cut/file", "body_file "+large, "fault cut"),
		route("/chunks", "body 0123456789", "chunked"),
		route("/chunks/slow", "body 0123456789", "chunked\ndribble 5 20ms"),
		route("/chunks/none", "", "chunked"),
		route("/chunks/large", "random_content 300kb", "chunked"),
		route("/chunks/drawn", "random_content 300kb..301kb", "chunked"),
		route("/chunks/file", "body_file "+large, "chunked"),
		route("/file", "header ETag `\"v1\"`\nbody_file "+file, ""),
		route("/file/large", "body_file "+large, ""),
		route("/file/slow", "body_file "+file, "dribble 2 20ms"),
		route("/file/own", "body other", "body_file "+file),
		"route /file/turns {\nbody_file " + large + "\nstage 0 {\noutcome 503 {\nfirst 1 by uri\nbody_file " + file + "\n}\noutcome 200\n}\n}",
		"body fine\nstage 0 200\n}",
	}, "\n")
}

// TestDeliveries holds what clients of HTTP/1, with and without TLS, HTTP/2 and
// HTTP/3 see of each, and that they are served after it.
func TestDeliveries(t *testing.T) {
	addr, secure := caddytest.Addr(t), caddytest.Addr(t)
	lines := deliveries(t)
	caddytest.Run(t, "{\n skip_install_trust\n}\n"+site(addr, lines)+"https://"+secure+" {\n tls internal\n"+withExpress(lines)+"\n}")
	caddytest.AwaitTLS(t, secure)
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	h3 := &http3.Transport{TLSClientConfig: insecure.Clone()}
	defer h3.Close()
	for proto, transport := range map[string]http.RoundTripper{
		"HTTP/1.1":          &http.Transport{},
		"HTTP/1.1 over TLS": &http.Transport{TLSClientConfig: insecure.Clone(), TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}},
		"HTTP/2.0":          &http.Transport{TLSClientConfig: insecure.Clone(), ForceAttemptHTTP2: true},
		"HTTP/3.0":          h3,
	} {
		base := "https://" + secure
		if proto == "HTTP/1.1" {
			base = "http://" + addr
		}
		client := &http.Client{Transport: transport, Timeout: time.Minute}
		for _, tc := range []struct{ path, asked, want string }{
			{"/cut", "", "200 10 01234 broken"},
			{"/cut/head", "", "200 10  broken"},
			{"/cut/most", "", "200 10 012345678 broken"},
			{"/cut/slow", "", "200 10 012 broken"},
			{"/cut/chunks", "", "200 -1 01234 broken"},
			{"/cut/file", "", "200 1000000 500000 bytes broken"},
			{"/chunks", "", "200 -1 0123456789"},
			{"/chunks/slow", "", "200 -1 0123456789"},
			{"/chunks/none", "", "200 -1 "},
			{"/chunks/large", "", "200 -1 307200 bytes"},
			{"/chunks/file", "", "200 -1 1000000 bytes"},
			{"/file", "", "200 10 0123456789 accepts bytes"},
			{"/file", "bytes=2-4", "206 3 234 of bytes 2-4/10 accepts bytes"},
			{"/file", "bytes=-3", "206 3 789 of bytes 7-9/10 accepts bytes"},
			{"/file", "bytes=20-", "416 0  of bytes */10 accepts bytes"},
			{"/file", `bytes=2-4 if "v1"`, "206 3 234 of bytes 2-4/10 accepts bytes"},
			{"/file", `bytes=2-4 if "v2"`, "200 10 0123456789 accepts bytes"},
			{"/file", "bytes=0-1,3-4", "200 10 0123456789 accepts bytes"},
			{"/file/slow", "bytes=2-5", "206 4 2345 of bytes 2-5/10 accepts bytes"},
			{"/file/own", "", "200 10 0123456789 accepts bytes"},
			{"/file/own", "bytes=2-4", "206 3 234 of bytes 2-4/10 accepts bytes"},
			{"/file/large", "bytes=999990-", "206 10 0123456789 of bytes 999990-999999/1000000 accepts bytes"},
			{"/file/large", "bytes=0-499999", "206 500000 500000 bytes of bytes 0-499999/1000000 accepts bytes"},
			{"/", "bytes=0-1", "200 4 fine"}, // it comes from no file
		} {
			for range 2 { // with express on, the second is on a connection that was taken over
				if got := delivered(t, client, base+tc.path, tc.asked); got != tc.want && (proto != "HTTP/3.0" || !overtaken(got, tc.want)) {
					t.Errorf("%s %s %s: got %q, want %q", proto, tc.path, tc.asked, got, tc.want)
				}
			}
		}
		turns := base + "/file/turns?" + url.QueryEscape(proto)
		for _, want := range []string{"503 10 0123456789", "200 1000000 1000000 bytes accepts bytes", "200 1000000 1000000 bytes accepts bytes"} {
			if got := delivered(t, client, turns, ""); got != want {
				t.Errorf("%s: got %q, want %q", turns, got, want)
			}
		}
		if got := delivered(t, client, base+"/chunks/drawn", ""); !strings.HasPrefix(got, "200 -1 30") || !strings.HasSuffix(got, " bytes") {
			t.Errorf("%s: got %q of a size that is drawn", proto, got)
		}
		client.CloseIdleConnections()
	}
}

// overtaken reports whether over HTTP/3 the error has overtaken what was sent
// before it.
func overtaken(got, want string) bool {
	return strings.HasSuffix(want, "broken") && strings.HasSuffix(got, "broken")
}

// delivered returns what a client sees: the status, the length that was
// announced, the body, and how it ended.
func delivered(t *testing.T, client *http.Client, url, asked string) string {
	t.Helper()
	req, _ := http.NewRequest(http.MethodGet, url, nil)
	req.Header.Set("Accept-Encoding", "identity")
	ranges, condition, conditional := strings.Cut(asked, " if ")
	if asked != "" {
		req.Header.Set("Range", ranges)
	}
	if conditional {
		req.Header.Set("If-Range", condition)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Logf("%s: %v", url, err)
		return "no response: broken"
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	got := fmt.Sprint(resp.StatusCode, " ", resp.ContentLength, " ")
	if len(body) > 100 {
		got += fmt.Sprint(len(body), " bytes")
	} else {
		got += string(body)
	}
	if of := resp.Header.Get("Content-Range"); of != "" {
		got += " of " + of
	}
	if accepts := resp.Header.Get("Accept-Ranges"); accepts != "" && err == nil {
		got += " accepts " + accepts
	}
	if err != nil {
		got += " broken"
	}
	return got
}

// TestDeliveriesOnTheWire holds what goes over a socket of HTTP/1.1: chunks, one
// connection for several, no length for HEAD either, and the end of it after a cut.
func TestDeliveriesOnTheWire(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, site(addr, deliveries(t)))
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewReader(conn)
	for _, tc := range []struct{ method, path, want string }{
		{"GET", "/", "[] 4 fine"},
		{"HEAD", "/chunks", "[] -1 "},
		{"GET", "/chunks", "[chunked] -1 0123456789"},
		{"GET", "/chunks/slow", "[chunked] -1 0123456789"},
		{"GET", "/", "[] 4 fine"},
		{"HEAD", "/file", "[] 10 "},
	} {
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", tc.method, tc.path)
		resp, err := http.ReadResponse(in, &http.Request{Method: tc.method})
		if err != nil {
			t.Fatalf("%s %s: %v", tc.method, tc.path, err)
		}
		body, err := io.ReadAll(resp.Body)
		if got := fmt.Sprintf("%v %d %s", resp.TransferEncoding, resp.ContentLength, body); err != nil || got != tc.want {
			t.Errorf("%s %s: got %q, error %v, want %q", tc.method, tc.path, got, err, tc.want)
		}
	}
	fmt.Fprint(conn, "GET /cut HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	rest, err := io.ReadAll(in)
	head, body, _ := strings.Cut(string(rest), "\r\n\r\n")
	if err != nil || !strings.Contains(head, "Content-Length: 10") || body != "01234" {
		t.Errorf("cut: got %q, error %v", rest, err)
	}
}

// TestFirstsByClient holds that Caddy says which client it is, behind a proxy
// that it trusts, on each path.
func TestFirstsByClient(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, "{\nservers {\ntrusted_proxies static 127.0.0.0/8\n}\n}\n"+site(addr, "simulator {\nstage 0s 503 {\nfirst 2 by client_ip\n}\n}"))
	var got []int
	for _, ip := range []string{"", "192.0.2.1", "192.0.2.1", "192.0.2.1", "", "", "192.0.2.2", "192.0.2.2", "192.0.2.2"} {
		req, _ := http.NewRequest(http.MethodGet, "http://"+addr, nil)
		if ip != "" {
			req.Header.Set("X-Forwarded-For", ip)
		}
		resp := insist(t, func() (*http.Response, error) { return http.DefaultClient.Do(req) })
		status, _ := read(t, resp)
		got = append(got, status)
	}
	if want := []int{503, 503, 503, 200, 503, 200, 503, 503, 200}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOutcomesAreTold holds what the recipe API, Caddy's, the metrics and the
// access log tell of them.
func TestOutcomesAreTold(t *testing.T) {
	addr, admin := caddytest.Addr(t), caddytest.Addr(t)
	name := fmt.Sprintf("told%d", time.Now().UnixNano())
	lines := "simulator {\nname " + name + "\nadmin\nstage 0s {\noutcome 503 20ms {\nfirst 2 by uri\n}\noutcome 429 {\npercent 0\n}\noutcome 200 5ms..6ms\n}\nstage 1h 200\n}"
	s := caddytest.Run(t, "{\nadmin "+admin+"\n}\n"+site(addr, "log", "handle /metrics {\nmetrics\n}", "handle {\n"+lines+"\n}"))
	for range 3 {
		get(t, "http://"+addr+"/x")
	}
	onAnotherConnection()
	for url, wants := range map[string][]string{
		"http://" + addr + "/_admin/routes_status":  {"/* 503 20 first 2 by uri; 429 0 percent 0; 200 5ms..6ms"},
		"http://" + addr + "/_admin/current_count":  {`"routes":{"/*":{"200":1,"503":2,"branches":{"1":2,"3":1},"total_requests":3}}`},
		"http://" + addr + "/_admin/live.json":      {`{"status":503,"latency":"20ms","words":["first 2 by uri"]}`},
		"http://" + admin + "/rehearsal/simulators": {`"status":200,"latency":"5ms..6ms","outcomes":[{"status":503,"first":"2 by uri","latency":"20ms"},`},
		"http://" + addr + "/metrics": {
			`caddy_simulator_requests_total{branch="1",code="5xx",route="/*",simulator="` + name + `"} 2`,
			`caddy_simulator_requests_total{branch="3",code="2xx",route="/*",simulator="` + name + `"} 1`,
			`caddy_simulator_latency_seconds_count{route="/*",simulator="` + name + `"} 3`,
		},
	} {
		_, text := get(t, url)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s:\n%.2000s", url, want, text)
			}
		}
	}
	want := `"simulator":{"route":"/*","stage":1,"branch":1,"latency":0.02}`
	eventually(t, func() bool { return strings.Contains(s.Logs(), want) })

	if status, body := post(t, "http://"+addr+"/_admin/add_recipe", `{"stages":[{"outcomes":[{"percent":60},{"percent":60}]}]}`); status != 400 ||
		body != `{"error":"stages[0].outcomes: the shares add up to 120%: at most 100%","field":"stages[0].outcomes"}` {
		t.Errorf("posting: got %d %s", status, body)
	}
	if status, body := post(t, "http://"+addr+"/_admin/restart_clock", ""); status != 200 {
		t.Errorf("restarting the clock: got %d %s", status, body)
	}
	wantStatus(t, "http://"+addr+"/x", 503)
	onAnotherConnection()
	if status, body := post(t, "http://"+addr+"/_admin/add_recipe", `{"stages":[{"outcomes":[{"first":"1 by uri","status":418},{"status":201}]}]}`); status != 201 {
		t.Errorf("posting: got %d %s", status, body)
	}
	for _, want := range []int{418, 201} {
		wantStatus(t, "http://"+addr+"/posted", want)
	}
}
