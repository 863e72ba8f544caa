// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// refusing is an address where nobody listens, nor will anybody.
const refusing = "127.0.0.1:1"

// received is a request as an upstream got it.
type received struct {
	method, target, host string
	header, trailer      http.Header
	length               int64
	chunked              bool
	size                 int
	sum                  string
	body                 string // if it is short
}

// upstream is a primary or a shadow that keeps what it gets.
type upstream struct {
	*httptest.Server
	t testing.TB

	mu   sync.Mutex
	got  []received
	more *sync.Cond
}

// newUpstream starts an upstream that answers with answer, or echoes the hash
// of what it got.
func newUpstream(t testing.TB, answer http.HandlerFunc) *upstream {
	u := &upstream{t: t}
	u.more = sync.NewCond(&u.mu)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, err := receive(r)
		if err != nil {
			return
		}
		u.mu.Lock()
		u.got = append(u.got, rec)
		u.mu.Unlock()
		u.more.Broadcast()
		if answer != nil {
			answer(w, r)
		} else {
			fmt.Fprint(w, rec.sum)
		}
	}))
	t.Cleanup(func() {
		u.CloseClientConnections()
		u.Close()
	})
	return u
}

func receive(r *http.Request) (received, error) {
	hash := sha256.New()
	var short beginning
	n, err := io.Copy(io.MultiWriter(hash, &short), r.Body)
	rec := received{
		method: r.Method, target: r.RequestURI, host: r.Host, header: r.Header.Clone(), trailer: r.Trailer,
		length: r.ContentLength, chunked: len(r.TransferEncoding) > 0, size: int(n), sum: fmt.Sprintf("%x", hash.Sum(nil)),
	}
	if n < 1024 {
		rec.body = short.String()
	}
	return rec, err
}

// beginning keeps the first bytes of a body, enough to see whether it is short.
type beginning struct{ strings.Builder }

func (b *beginning) Write(p []byte) (int, error) {
	if b.Len() < 1024 {
		b.Builder.Write(p)
	}
	return len(p), nil
}

// wait returns the requests that came once there are n of them.
func (u *upstream) wait(n int) []received {
	u.t.Helper()
	stop := time.AfterFunc(patience, u.more.Broadcast)
	defer stop.Stop()
	deadline := time.Now().Add(patience)
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.got) < n {
		if time.Now().After(deadline) {
			u.t.Fatalf("upstream got %d requests, want %d", len(u.got), n)
		}
		u.more.Wait()
	}
	return append([]received(nil), u.got...)
}

// waitFor waits for the request whose body has this hash.
func (u *upstream) waitFor(sum string) (found received) {
	u.t.Helper()
	eventually(u.t, "a body", func() (string, bool) {
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, found = range u.got {
			if found.sum == sum {
				return "", true
			}
		}
		return fmt.Sprintf("%d requests have others", len(u.got)), false
	})
	return found
}

func (u *upstream) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.got)
}

func (u *upstream) addr() string { return u.Listener.Addr().String() }

// teeName returns the running test's tee a name of its own, since metrics count
// on from test to test.
func teeName(t testing.TB) string {
	name, _ := teeNames.LoadOrStore(t, fmt.Sprintf("%s_%d", strings.ReplaceAll(t.Name(), "/", "_"), teeNumber.Add(1)))
	return name.(string)
}

var (
	teeNames  sync.Map
	teeNumber atomic.Int64
)

// site is a Caddyfile of one site, whatever the Host.
func site(addr, body string) string {
	_, port, _ := net.SplitHostPort(addr)
	return "http://:" + port + " {\nbind 127.0.0.1\n" + body + "\n}\n"
}

// oneShot is a client that does not run into connections which a reload has
// closed.
var oneShot = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// teeSite is a site with a tee in front of a primary. $SHADOW in the options
// stands for the shadow's URL.
func teeSite(t testing.TB, addr, primary, shadow, options string) string {
	return site(addr, fmt.Sprintf("tee %s {\nname %s\n%s\n}\nreverse_proxy %s", shadow, teeName(t), options, primary))
}

// outcomes returns what became of the copies of the test's tee, by name.
func outcomesOf(t testing.TB, shadow string) map[string]int {
	counts := make(map[string]int)
	for o := none + 1; o < outcomes; o++ {
		if n := int(testutil.ToFloat64(collectors.copies.WithLabelValues(teeName(t), shadow, outcomeNames[o]))); n > 0 {
			counts[outcomeNames[o]] = n
		}
	}
	return counts
}

// waitOutcome waits until so many copies have this outcome.
func waitOutcome(t testing.TB, shadow, outcome string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d copies %s", n, outcome), func() (string, bool) {
		counts := outcomesOf(t, shadow)
		return fmt.Sprint(counts), counts[outcome] >= n
	})
	if counts := outcomesOf(t, shadow); counts[outcome] != n {
		t.Errorf("outcomes are %v, want %d %s", counts, n, outcome)
	}
}

// waitAccounted waits until so many copies have any outcome.
func waitAccounted(t testing.TB, shadow string, n int) map[string]int {
	t.Helper()
	sum := func() (total int) {
		for _, n := range outcomesOf(t, shadow) {
			total += n
		}
		return total
	}
	eventually(t, fmt.Sprintf("%d copies accounted for", n), func() (string, bool) {
		return fmt.Sprint(outcomesOf(t, shadow)), sum() >= n
	})
	if got := sum(); got != n {
		t.Errorf("%d copies are accounted for, want %d: %v", got, n, outcomesOf(t, shadow))
	}
	return outcomesOf(t, shadow)
}

func eventually(t testing.TB, what string, check func() (state string, ok bool)) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		state, ok := check()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s: %s", what, state)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// get fetches a URL and returns status and body.
func get(t testing.TB, client *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := client.Get(url)
	for range 3 {
		if err == nil {
			break
		}
		// a reload resets connections that the old listener had not accepted yet
		resp, err = client.Get(url)
	}
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return drain(t, resp)
}

func post(t testing.TB, client *http.Client, url string, body io.Reader) (int, string) {
	t.Helper()
	resp, err := client.Post(url, "application/octet-stream", body)
	if err != nil {
		t.Fatalf("POST %s: %v", url, err)
	}
	return drain(t, resp)
}

func drain(t testing.TB, resp *http.Response) (int, string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading response: %v", err)
	}
	return resp.StatusCode, string(body)
}

// dial opens a connection for a test that speaks HTTP by hand.
func dial(t testing.TB, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn, bufio.NewReader(conn)
}

// speak sends bytes on a new connection and returns the response.
func speak(t testing.TB, addr, request string) (int, string) {
	t.Helper()
	conn, br := dial(t, addr)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, resp)
}

// run starts Caddy and returns the address to talk to.
func run(t testing.TB, caddyfile func(addr string) string) (*caddytest.Server, string) {
	t.Helper()
	addr := caddytest.Addr(t)
	return caddytest.Run(t, caddyfile(addr)), addr
}

// validateJSON provisions a tee with these JSON fields.
func validateJSON(fields string) error {
	var config caddy.Config
	text := `{"apps": {"http": {"servers": {"s": {"listen": [":9000"], "routes": [{"handle": [{"handler": "tee", ` + fields + `}]}]}}}}}`
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return err
	}
	return caddy.Validate(&config)
}

// quiet is for servers whose clients are expected to misbehave.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// connCounter counts the connections that a server accepts.
type connCounter struct{ n atomic.Int64 }

func (c *connCounter) count(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		c.n.Add(1)
	}
}

// next waits for what a channel brings.
func next[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// gauge waits until a gauge of the test's tee has a value.
func gauge(t testing.TB, vec *prometheus.GaugeVec, shadow string, want float64) {
	t.Helper()
	eventually(t, "a gauge", func() (string, bool) {
		got := testutil.ToFloat64(vec.WithLabelValues(teeName(t), shadow))
		return fmt.Sprintf("it is %v, want %v", got, want), got == want
	})
}

// newBareServer starts a server that does nothing but answer.
func newBareServer(t testing.TB, answer http.HandlerFunc) (addr string) {
	server := httptest.NewUnstartedServer(answer)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.Listener.Addr().String()
}
