// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestRecordsAreChosenLikeCopies has a shadow get the same requests that are
// recorded, whichever option chooses them.
func TestRecordsAreChosenLikeCopies(t *testing.T) {
	for options, most := range map[string]int{
		"percent 25":                        11,
		"percent 50\nsample_by header X-ID": 30,
		"rate_limit 3/s":                    20, // as many as a slow machine makes of it
		"only_status 404 5xx":               20,
		"percent 0":                         0,
	} {
		t.Run(options, func(t *testing.T) {
			shadow, dir := newUpstream(t, nil), t.TempDir()
			primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.RequestURI, "0") {
					w.WriteHeader(http.StatusNotFound)
				}
			})
			_, addr := run(t, func(addr string) string {
				return site(addr, teeRecording(t, dir, "to "+shadow.URL+"\n"+options, "reverse_proxy "+primary))
			})
			const requests = 40
			for i := range requests {
				req, err := http.NewRequest("GET", fmt.Sprintf("http://%s/%d", addr, i), nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("X-Id", strconv.Itoa(i))
				resp, err := oneShot.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				drain(t, resp)
			}
			copied := make(map[string]bool)
			eventually(t, "the outcomes of all that were chosen", func() (string, bool) {
				sum, outcomes := 0, outcomesOf(t, shadow.URL)
				for _, n := range outcomes {
					sum += n
				}
				all := sum == requests
				if strings.HasPrefix(options, "percent") { // how many were chosen, the records have
					all = len(pairsOf(t, dir)) == shadow.count()
				}
				return fmt.Sprint(outcomes), shadow.count() == outcomes["sent_2xx"] && all
			})
			for _, r := range shadow.wait(0) {
				copied[r.target] = true
			}
			if len(copied) > most || len(copied) == 0 && most > 0 {
				t.Errorf("%d are copied, want up to %d", len(copied), most)
			}
			for _, p := range waitPairs(t, dir, len(copied)) {
				if !copied[p.target] {
					t.Errorf("%s is recorded and was not copied", p.target)
				}
			}
		})
	}
}

// TestBodiesGoByTheRecordsLimit has bodies that are too large for copies, for
// records, and for neither.
func TestBodiesGoByTheRecordsLimit(t *testing.T) {
	primary, shadow, dir := newUpstream(t, nil), newUpstream(t, nil), t.TempDir()
	const copies, limit = 10 << 10, 100 << 10
	options := fmt.Sprintf("to %s\nmax_body %d\nrecord %s {\nflush_every 10ms\nmax_body %d\n}", shadow.URL, copies, dir, limit)
	done := 0
	everyProtocol(t, teeRecording(t, dir, options, "reverse_proxy "+primary.URL), func(t *testing.T, client *http.Client, url string) {
		for _, size := range []int{100, copies + 1, 3 * limit} {
			for _, chunked := range []bool{false, true} {
				before, sent := shadow.count(), bytesOf(size)
				body := io.Reader(strings.NewReader(sent))
				if chunked {
					body = unknownLength{body}
				}
				if status, got := post(t, client, url, body); status != 200 || got != sumOf(sent) {
					t.Fatalf("client got %d %q", status, got)
				}
				done++
				p := waitPairs(t, dir, done)[done-1]
				if p.request.body != sent[:min(limit, size)] || p.request.size != size || p.request.err != "" || p.response.body != sumOf(sent) {
					t.Errorf("of %d bytes %d of %d are recorded, error %q, response %q", size, len(p.request.body), p.request.size, p.request.err, p.response.body)
				}
				if size <= copies {
					shadow.wait(before + 1)
				} else if shadow.count() != before {
					t.Error("a body that is too large was copied")
				}
			}
		}
	})
}

// TestBodiesThatThePrimaryDoesNotRead are recorded as far as they came, which
// the record says.
func TestBodiesThatThePrimaryDoesNotRead(t *testing.T) {
	waitForTheRest(t)
	for name, c := range map[string]struct {
		options, request string
		body             string
		size             int
		err              string
	}{
		"whole":       {"", "Content-Length: 3\r\n\r\nabc", "abc", 3, ""},
		"chunked":     {"", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", 3, ""},
		"not asked":   {"", "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n", "", 3, "after 0 bytes of the body: the rest was not read"},
		"without":     {"body off", "Content-Length: 3\r\n\r\nabc", "", 3, "after 0 bytes of the body: the rest was not read"},
		"too large":   {"max_body 2", "Content-Length: 3\r\n\r\nabc", "", 3, "after 0 bytes of the body: the rest was not read"},
		"of no bytes": {"", "Content-Length: 0\r\n\r\n", "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			addr, dir, _ := recordingInto(t, c.options, "respond no 401")
			conn, _ := dial(t, addr)
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a.test\r\n%s", c.request)
			p := waitPairs(t, dir, 1)[0]
			if p.status != 401 || p.response.body != "no" || p.request.body != c.body || p.request.size != c.size || p.request.err != c.err {
				t.Errorf("recorded as %+v", p)
			}
		})
	}
}

// TestBrokenUploadsAreRecordedWithTheReason has a client leave in its body.
func TestBrokenUploadsAreRecordedWithTheReason(t *testing.T) {
	reading := make(chan struct{})
	primary := newBareServer(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 3))
		close(reading)
		_, _ = io.Copy(io.Discard, r.Body)
	})
	addr, dir, _ := recordingInto(t, "", "reverse_proxy "+primary)
	conn, _ := dial(t, addr)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nabc")
	next(t, reading)
	conn.Close()
	p := waitPairs(t, dir, 1)[0]
	if p.request.body != "abc" || p.request.size < 3 || !strings.HasPrefix(p.request.err, "after 3 bytes of the body: ") || p.status < 400 {
		t.Errorf("recorded as %+v", p)
	}
}

// TestFullMemoryKeepsNobodyWaiting has uploads that are too large for the memory
// of the recorder at the same time: all are served, each is recorded or counted.
func TestFullMemoryKeepsNobodyWaiting(t *testing.T) {
	const uploads = 5
	var all sync.WaitGroup
	all.Add(uploads)
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		all.Done()
		all.Wait() // so that they are held at the same time
		fmt.Fprint(w, n)
	})
	dir := t.TempDir()
	addr, _, metrics := recordingInto(t, "record "+dir+" {\nmemory 300KiB\nflush_every 10ms\n}", "reverse_proxy "+primary)
	const size = 200 << 10
	var clients sync.WaitGroup
	for range uploads {
		clients.Go(func() {
			if _, got := post(t, oneShot, "http://"+addr, strings.NewReader(strings.Repeat("x", size))); got != fmt.Sprint(size) {
				t.Errorf("client got %q", got)
			}
		})
	}
	clients.Wait()
	eventually(t, "all to be recorded or dropped", func() (string, bool) {
		text := metrics()
		value := func(name, more string) (n int) {
			_, rest, _ := strings.Cut(text, fmt.Sprintf("\ncaddy_recording_%s{handler=%q,name=%q%s} ", name, "tee", teeName(t), more))
			_, _ = fmt.Sscan(rest, &n)
			return n
		}
		recorded, dropped := value("records_total", ""), value("dropped_total", `,reason="memory"`)
		return fmt.Sprintf("%d recorded, %d dropped", recorded, dropped), recorded+dropped == uploads && recorded > 0 && dropped > 0
	})
}

// TestReloadWithOtherOptions has a conversation that outlives its configuration
// recorded where that said.
func TestReloadWithOtherOptions(t *testing.T) {
	arrived, respond := make(chan struct{}, 1), make(chan struct{})
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- struct{}{}
			<-respond
		}
		fmt.Fprint(w, r.URL.Path)
	})
	old, changed := t.TempDir(), t.TempDir()
	addr := caddytest.Addr(t)
	server := caddytest.Run(t, site(addr, teeRecording(t, old, "", "reverse_proxy "+primary)))
	slow := make(chan string, 1)
	go func() {
		_, body := get(t, oneShot, "http://"+addr+"/slow")
		slow <- body
	}()
	next(t, arrived)
	reloaded := make(chan struct{})
	go func() { // it waits for what is served
		server.Reload(site(addr, teeRecording(t, changed, "", "reverse_proxy "+primary)))
		close(reloaded)
	}()
	get(t, oneShot, "http://"+addr+"/new")
	eventually(t, "the new configuration", func() (string, bool) {
		get(t, oneShot, "http://"+addr+"/new")
		return "", len(pairsOf(t, changed)) > 0
	})
	close(respond)
	if body := next(t, slow); body != "/slow" {
		t.Errorf("client got %q", body)
	}
	next(t, reloaded)
	eventually(t, "the slow one in the old folder", func() (string, bool) {
		all := pairsOf(t, old)
		return fmt.Sprint(all), len(all) > 0 && all[0].target == "/slow" && all[0].response.body == "/slow"
	})
	eventually(t, "the old file to be finished", func() (string, bool) {
		running, _ := filepath.Glob(filepath.Join(old, "*.tmp"))
		return fmt.Sprint(running), len(running) == 0
	})
}
