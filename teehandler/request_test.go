// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// rawUpstream responds to every request and keeps the bytes of each header.
func rawUpstream(t testing.TB) (addr string, heads chan string) {
	heads = make(chan string, 100)
	return peertest.Serve(t, func(conn *net.TCPConn) { answerRaw(conn, heads) }), heads
}

func answerRaw(conn net.Conn, heads chan string) {
	var head strings.Builder
	one := make([]byte, 1)
	for {
		if _, err := conn.Read(one); err != nil {
			return
		}
		head.WriteByte(one[0])
		if strings.HasSuffix(head.String(), "\r\n\r\n") {
			heads <- head.String()
			head.Reset()
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

func TestTargetIsCopiedByteForByte(t *testing.T) {
	shadow, heads := rawUpstream(t)
	_, addr := run(t, func(addr string) string { return site(addr, "tee "+shadow+"\nrespond ok") })
	for _, target := range []string{
		"/cgi?a=1;b=2&c=%3B&d", "/s?p=%2B%2B&p=+&z=1&a=2&p=", "//a//b", "/a%2Fb/%7euser/%C3%A9", "/a;x=1/b,c/(d)'e'",
		"/?", "/a?b?c#", "/a/../b/./c", "/%", "/{curly}|pipe\\back", "/\xc3\xa9?\xe9", "/a?%zz",
	} {
		conn, br := dial(t, addr)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, addr)
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, resp)
		if resp.StatusCode == http.StatusBadRequest {
			continue // the server itself refuses it
		}
		if line, _, _ := strings.Cut(next(t, heads), "\r\n"); line != "GET "+target+" HTTP/1.1" {
			t.Errorf("%s was sent as %q", target, line)
		}
	}
}

func TestAbsoluteTargetIsSentInOriginForm(t *testing.T) {
	shadow, heads := rawUpstream(t)
	_, addr := run(t, func(addr string) string { return site(addr, "tee "+shadow+"\nrespond ok") })
	for sent, want := range map[string]string{
		"GET http://" + addr + "/a%2Fb?c=;d HTTP/1.1": "GET /a%2Fb?c=;d HTTP/1.1",
		"GET http://" + addr + "?c HTTP/1.1":          "GET /?c HTTP/1.1",
		"GET http://" + addr + " HTTP/1.1":            "GET / HTTP/1.1",
	} {
		speak(t, addr, sent+"\r\nHost: "+addr+"\r\n\r\n")
		if line, _, _ := strings.Cut(next(t, heads), "\r\n"); line != want {
			t.Errorf("%q was sent as %q, want %q", sent, line, want)
		}
	}
}

func TestTargetIsTheOneSeenWhereTheTeeStands(t *testing.T) {
	inside, before, query := newUpstream(t, nil), newUpstream(t, nil), newUpstream(t, nil)
	primary := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf(`route {
	tee %s {
		name outer
	}
	handle_path /api/* {
		route {
			tee %s/base {
				name inner
			}
			uri query +added yes
			tee %s {
				name after
			}
			reverse_proxy %s
		}
	}
}`, before.URL, inside.URL, query.URL, primary.URL))
	})
	get(t, http.DefaultClient, "http://"+addr+"/api/v1/it%2Fems?id=7;8")
	if got := before.wait(1)[0].target; got != "/api/v1/it%2Fems?id=7;8" {
		t.Errorf("before the prefix is stripped: %s", got)
	}
	if got := inside.wait(1)[0].target; got != "/base/v1/it%2Fems?id=7;8" {
		t.Errorf("after the prefix was stripped: %s", got)
	}
	if got := query.wait(1)[0].target; !strings.HasPrefix(got, "/v1/it%2Fems?") || !strings.Contains(got, "added=yes") {
		t.Errorf("after the query was changed: %s", got)
	}
}

func TestHeaderOfTheCopy(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.URL, "header_up X-Shadow {http.request.method}\nheader_up -X-Secret\nheader_up X-Change a(.)c x$1")
	})
	speak(t, addr, "POST /orders HTTP/1.1\r\nHost: shop.example.test\r\n"+
		"X-Forwarded-For: 203.0.113.9\r\nX-Many: one\r\nX-Other: 1\r\nX-Many: two\r\nCookie: id=1; id=2; =x; bad\r\n"+
		"X-Latin: caf\xe9\r\nX-Empty:\r\nX-Secret: s\r\nX-Change: abc\r\nTe: trailers\r\nKeep-Alive: timeout=5\r\n"+
		"Proxy-Connection: keep-alive\r\nConnection: close, X-Drop\r\nX-Drop: 1\r\nContent-Length: 3\r\n\r\nabc")
	copied, original := shadow.wait(1)[0], primary.wait(1)[0]
	want := http.Header{
		"X-Forwarded-For": {"203.0.113.9"}, "X-Many": {"one", "two"}, "X-Other": {"1"}, "Cookie": {"id=1; id=2; =x; bad"},
		"X-Latin": {"caf\xe9"}, "X-Empty": {""}, "X-Shadow": {"POST"}, "X-Change": {"xb"}, "Content-Length": {"3"},
		"X-Rehearsal-Copy": {teeName(t)},
	}
	if !reflect.DeepEqual(copied.header, want) {
		t.Errorf("shadow got  %v\nwant %v", copied.header, want)
	}
	if copied.host != "shop.example.test" || copied.body != "abc" {
		t.Errorf("shadow got Host %s, body %q", copied.host, copied.body)
	}
	if original.header.Get("X-Shadow") != "" || original.header.Get(markField) != "" || original.header.Get("X-Secret") != "s" {
		t.Errorf("primary got %v", original.header)
	}
}

func TestPlaceholdersCannotBreakTheHeader(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.URL, "header_up X-Shadow {http.request.uri.query.x}")
	})
	get(t, http.DefaultClient, "http://"+addr+"/?x=a%0d%0aX-Evil:%201")
	if copied := shadow.wait(1)[0]; copied.header.Get("X-Evil") != "" || copied.header.Get("X-Shadow") != "a  X-Evil: 1" {
		t.Errorf("shadow got %v", copied.header)
	}
}

func TestHostOfTheCopy(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	for option, want := range map[string]string{
		"":                                "shop.example.test",
		"host preserve":                   "shop.example.test",
		"host target":                     shadow.addr(),
		"host other.test:81":              "other.test:81",
		"host {http.request.host}.shadow": "shop.example.test.shadow",
		"header_up Host changed.test":     "changed.test",
	} {
		t.Run(want, func(t *testing.T) {
			_, addr := run(t, func(addr string) string { return teeSite(t, addr, primary.addr(), shadow.URL, option) })
			n := shadow.count()
			speak(t, addr, "GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n")
			if got := shadow.wait(n + 1)[n].host; got != want {
				t.Errorf("shadow got Host %q, want %q", got, want)
			}
			if got := primary.wait(n + 1)[n].host; got != "shop.example.test" {
				t.Errorf("primary got Host %q", got)
			}
		})
	}
}

// What a client says of where its request comes from reaches the shadow only
// where it reaches the primary.
func TestForwardClientIP(t *testing.T) {
	for name, tc := range map[string]struct{ options, forwarded string }{
		"anybody":         {"", `for=127.0.0.1;host="a.test:81";proto=http`},
		"a trusted proxy": {"{\nservers {\ntrusted_proxies static 127.0.0.0/8\n}\n}\n", `for=203.0.113.9, for=127.0.0.1;host="a.test:81";proto=http`},
	} {
		t.Run(name, func(t *testing.T) {
			primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
			_, addr := run(t, func(addr string) string {
				return tc.options + teeSite(t, addr, primary.addr(), shadow.URL, "forward_client_ip")
			})
			speak(t, addr, "GET / HTTP/1.1\r\nHost: a.test:81\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 203.0.113.10\r\n"+
				"X-Forwarded-Proto: https\r\nX-Forwarded-Host: b.test\r\nForwarded: for=203.0.113.9\r\n\r\n")
			copied, direct := shadow.wait(1)[0].header, primary.wait(1)[0].header
			for _, field := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"} {
				if !reflect.DeepEqual(copied[field], direct[field]) || len(copied[field]) != 1 {
					t.Errorf("%s is %q for the shadow, %q for the primary", field, copied[field], direct[field])
				}
			}
			if got := copied["Forwarded"]; !reflect.DeepEqual(got, []string{tc.forwarded}) {
				t.Errorf("Forwarded %q", got)
			}
		})
	}
}

func TestForwardedNode(t *testing.T) {
	for ip, want := range map[string]string{"192.0.2.1": "192.0.2.1", "2001:db8::1": `"[2001:db8::1]"`, "@": "unknown"} {
		if got := forwardedNode(ip); got != want {
			t.Errorf("%s is written %s, want %s", ip, got, want)
		}
	}
}

func TestIPv6Shadow(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatalf("this machine has no IPv6 loopback: %v", err)
	}
	shadow := newUpstream(t, nil)
	six := &http.Server{Handler: shadow.Config.Handler}
	go six.Serve(ln)
	t.Cleanup(func() { six.Close() })
	_, addr := run(t, func(addr string) string {
		return site(addr, "tee "+ln.Addr().String()+" {\nhost target\n}\nrespond ok")
	})
	get(t, http.DefaultClient, "http://"+addr)
	if got := shadow.wait(1)[0].host; got != ln.Addr().String() {
		t.Errorf("shadow got Host %s", got)
	}
}

func TestUnixSocketShadow(t *testing.T) {
	dir, err := os.MkdirTemp("", "tee") // sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "shadow.sock")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	shadow := newUpstream(t, nil)
	server := &http.Server{Handler: shadow.Config.Handler}
	go server.Serve(ln)
	t.Cleanup(func() { server.Close() })
	_, addr := run(t, func(addr string) string {
		return site(addr, "tee unix/"+socket+" unix://"+socket+"\nrespond ok")
	})
	get(t, http.DefaultClient, "http://"+addr+"/both")
	for _, copied := range shadow.wait(2) {
		if copied.target != "/both" || copied.host != addr {
			t.Errorf("shadow got %+v", copied)
		}
	}
}

func TestHTTPSShadow(t *testing.T) {
	cert, key := certificate(t)
	shadow := newUpstream(t, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secure := &http.Server{Handler: shadow.Config.Handler, ErrorLog: quiet()}
	go secure.ServeTLS(ln, cert, key)
	t.Cleanup(func() { secure.Close() })
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	for i, tc := range []struct{ url, options, outcome string }{
		{"https://localhost:" + port, "", "failed_tls"},
		{"https://localhost:" + port, "tls_insecure_skip_verify", "sent_2xx"},
		{"https://localhost:" + port, "tls_trust_pool file " + cert, "sent_2xx"},
		{"https://127.0.0.1:" + port, "tls_trust_pool file " + cert + "\ntls_server_name other.test", "failed_tls"},
		{"https://127.0.0.1:" + port, "tls_trust_pool file " + cert + "\ntls_server_name localhost", "sent_2xx"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			_, addr := run(t, func(addr string) string {
				return site(addr, fmt.Sprintf("tee %s {\nname %s\ntimeout 10s\n%s\n}\nrespond ok", tc.url, teeName(t), tc.options))
			})
			for range 2 {
				get(t, oneShot, "http://"+addr)
			}
			waitOutcome(t, tc.url, tc.outcome, 2)
		})
	}
}

func TestSeveralHTTPSShadowsTrustThePool(t *testing.T) {
	cert, key := certificate(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secure := &http.Server{Handler: newUpstream(t, nil).Config.Handler, ErrorLog: quiet()}
	go secure.ServeTLS(ln, cert, key)
	t.Cleanup(func() { secure.Close() })
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	byName, byAddress := "https://localhost:"+port, "https://127.0.0.1:"+port
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s %s {\nname %s\ntimeout 10s\ntls_trust_pool file %s\n}\nrespond ok", byName, byAddress, teeName(t), cert))
	})
	get(t, http.DefaultClient, "http://"+addr)
	waitOutcome(t, byName, "sent_2xx", 1)
	waitOutcome(t, byAddress, "sent_2xx", 1)
}

// HTTP/2 lets a client ask for what no line of HTTP/1.1 can say. That is not
// the shadow's trouble.
func TestTargetThatNoRequestLineCarriesIsNotCopied(t *testing.T) {
	shadow := newUpstream(t, nil)
	h2c := clients(t)["h2c"]
	addr := caddytest.Addr(t)
	server := caddytest.Run(t, fmt.Sprintf("{\nservers {\nprotocols h1 h2c\n}\n}\n%s",
		site(addr, fmt.Sprintf("tee %s {\nname %s\nhandle {\nrespond shadow\n}\n}\nrespond ok", shadow.URL, teeName(t)))))
	resp, err := h2c.Do(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: addr, Opaque: "/a b"}})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := drain(t, resp); status != 200 || body != "ok" {
		t.Errorf("client got %d %q", status, body)
	}
	waitOutcome(t, shadow.URL, "dropped_unsupported", 1)
	waitOutcome(t, "handle", "dropped_unsupported", 1)
	if strings.Contains(server.Logs(), "sending copy") {
		t.Error("the shadow was blamed")
	}
}

func TestSeveralShadowsGetTheSameRequests(t *testing.T) {
	primary := newUpstream(t, nil)
	a, b, c := newUpstream(t, nil), newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), a.URL+" "+b.URL, fmt.Sprintf("percent 50\nhandle {\nreverse_proxy %s\n}", c.addr()))
	})
	for i := range 20 {
		post(t, http.DefaultClient, fmt.Sprintf("http://%s/%d", addr, i), strings.NewReader(strings.Repeat("x", 100<<10)))
	}
	n := 10
	targets := func(u *upstream) map[string]bool {
		set := make(map[string]bool)
		for _, r := range u.wait(n) {
			set[r.target] = r.size == 100<<10
		}
		return set
	}
	if !reflect.DeepEqual(targets(a), targets(b)) || !reflect.DeepEqual(targets(a), targets(c)) {
		t.Errorf("shadows got different requests: %v %v %v", targets(a), targets(b), targets(c))
	}
}

func TestLoopsEnd(t *testing.T) {
	primary := newUpstream(t, nil)
	addr := caddytest.Addr(t)
	caddytest.Run(t, teeSite(t, addr, primary.addr(), "http://"+addr, ""))
	get(t, http.DefaultClient, "http://"+addr+"/once")
	got := primary.wait(2)
	if got[0].header.Get(markField) != "" && got[1].header.Get(markField) != "" {
		t.Errorf("primary got %v", got)
	}
	waitOutcome(t, "http://"+addr, "dropped_loop", 1)
	waitOutcome(t, "http://"+addr, "sent_2xx", 1)
}

func TestMarksOfOtherTeesStay(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string { return site(addr, "tee "+shadow.URL+" {\nname second\n}\nrespond ok") })
	speak(t, addr, "GET / HTTP/1.1\r\nHost: "+addr+"\r\nX-Rehearsal-Copy: first\r\n\r\n")
	if got := shadow.wait(1)[0].header[markField]; !reflect.DeepEqual(got, []string{"first", "second"}) {
		t.Errorf("marks are %v", got)
	}
}

func TestConnectionsAreReused(t *testing.T) {
	var accepted connCounter
	shadow := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 32<<10))
	})
	counted := httptest.NewUnstartedServer(shadow.Config.Handler)
	counted.Config.ConnState = accepted.count
	counted.Start()
	t.Cleanup(counted.Close)
	for option, want := range map[string]int{"": 5, "close_connections": 100} {
		t.Run(option, func(t *testing.T) {
			_, addr := run(t, func(addr string) string {
				return site(addr, fmt.Sprintf("tee %s {\nname %s\nconcurrency 5\ntimeout 20s\n%s\n}\nrespond ok", counted.URL, teeName(t), option))
			})
			before, sent := accepted.n.Load(), shadow.count()
			for i := range 100 {
				get(t, http.DefaultClient, "http://"+addr)
				shadow.wait(sent + i + 1)
			}
			if got := int(accepted.n.Load() - before); got > want || got < want && option != "" {
				t.Errorf("100 copies took %d connections, want %d at most", got, want)
			}
		})
	}
}
