// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// TestOnMiss asks simulators, with recipes and with mappings that look at
// bodies, which pass on what nothing takes, and reads what is recorded of that.
func TestOnMiss(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "upstream got "+r.Method+" "+r.RequestURI+" "+string(body))
	}))
	defer upstream.Close()
	stubs := filepath.Join(t.TempDir(), "stubs.json")
	if err := os.WriteFile(stubs, []byte(`{"request": {"method": "POST", "urlPath": "/mapped", "bodyPatterns": [{"contains": "known"}]},
		"response": {"status": 201, "body": "mapped"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, express := range []string{"", "express\n"} {
		for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(strings.TrimSpace(express+protocol), func(t *testing.T) {
				addr, mapped, dir := caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
				server := caddytest.Run(t, "{\nservers {\nprotocols h1 h2c\n}\n}\n"+
					"http://"+addr+" {\nlog\nsimulator {\nadmin\n"+express+"route /slow {\nbody simulated\nstage 0s 200\n}\n"+
					"on_miss "+upstream.URL+" {\nrecord "+dir+" {\nflush_every 10ms\n}\n}\n}\n}\n"+
					"http://"+mapped+" {\nsimulator {\n"+express+"mappings "+stubs+"\non_miss "+upstream.URL+"\n}\n}\n")
				client := &http.Client{Transport: &http.Transport{Protocols: new(http.Protocols)}, Timeout: time.Minute}
				client.Transport.(*http.Transport).Protocols.SetHTTP1(protocol == "HTTP/1.1")
				client.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
				defer client.CloseIdleConnections()
				ask := func(addr, method, path, body, want string) {
					t.Helper()
					if got := asked(t, client, protocol, method, "http://"+addr+path, body); got != want {
						t.Errorf("%s %s: got %q, want %q", method, path, got, want)
					}
				}
				for range 2 { // what was passed on is not served from its record
					ask(addr, "GET", "/slow", "", "200 simulated")
					ask(addr, "GET", "/none?a=1", "", "418 upstream got GET /none?a=1 ")
					ask(addr, "POST", "/none", "body", "418 upstream got POST /none body")
					ask(mapped, "POST", "/mapped", "the known", "201 mapped")
					ask(mapped, "POST", "/mapped", "the other", "418 upstream got POST /mapped the other")
					ask(mapped, "GET", "/mapped", "", "418 upstream got GET /mapped ")
				}
				ask(addr, "GET", "/_admin/routes_status", "", "200 /* on_miss "+upstream.URL+"\n/slow 200 0")
				ask(addr, "GET", "/_admin/current_count", "", `200 {"200":2,"418":4,"routes":{"/slow":{"200":2,"total_requests":2}},"total_requests":6}`)
				if logs := server.Logs(); strings.Count(logs, `"simulator":{"on_miss":true}`) != 4 {
					t.Errorf("the access log is\n%s", logs)
				}
				want := []string{"GET /none?a=1  418 upstream got GET /none?a=1 ", "POST /none body 418 upstream got POST /none body"}
				for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
					got := conversations(t, dir)
					if slices.Equal(got, slices.Concat(want, want)) {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("recorded is %q", got)
					}
				}
			})
		}
	}
}

// asked returns status and body of a response.
func asked(t *testing.T, client *http.Client, protocol, method, url, body string) string {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.Proto != protocol {
		t.Fatalf("got %s, error %v", resp.Proto, err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, got)
}

// conversations returns what is recorded in a directory so far, a text each.
func conversations(t *testing.T, dir string) (all []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "requests_*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := recording.OpenFile(name)
		if err != nil {
			continue // it was renamed
		}
		defer file.Close()
		for {
			r, err := file.Next()
			if errors.Is(err, io.EOF) || r == nil {
				break
			}
			if r.Response == nil {
				t.Fatalf("%s has no response", r.URI)
			}
			all = append(all, fmt.Sprintf("%s %s %s %d %s", r.Method, r.URI, r.Body, r.Response.Status, r.Response.Body))
		}
	}
	return all
}

// TestOnMissRefuses names what is wrong with an upstream, with its line where
// there is one, and answers for one that is down.
func TestOnMissRefuses(t *testing.T) {
	for lines, want := range map[string]string{
		"on_miss":                        "wrong argument count or unexpected line ending after 'on_miss', at Caddyfile:3",
		"on_miss ftp://127.0.0.1:1":      "parsing on_miss: parsing upstream 'ftp://127.0.0.1:1': unsupported URL scheme ftp://, at Caddyfile:3",
		"on_miss 127.0.0.1:1 {\nto x\n}": "unrecognized on_miss option 'to': expected one of record, at Caddyfile:4",
		"on_miss {env.NO_SUCH_UPSTREAM}": "on_miss: evaluated placeholder {env.NO_SUCH_UPSTREAM} is empty",
		"on_miss 127.0.0.1:1 {\nrecord " + t.TempDir() + " {\non_overflow block\n}\n}": "on_overflow block would have clients wait",
	} {
		err := caddytest.Validate("http://" + caddytest.Addr(t) + " {\nsimulator {\n" + lines + "\n}\n}\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", lines, err, want)
		}
	}
	addr := caddytest.Addr(t)
	caddytest.Run(t, "http://"+addr+" {\nsimulator {\nadmin\non_miss "+caddytest.Addr(t)+"\n}\nhandle_errors {\nrespond \"error {err.status_code}\"\n}\n}\n")
	if got := asked(t, http.DefaultClient, "HTTP/1.1", "GET", "http://"+addr+"/none", ""); got != "502 error 502" {
		t.Errorf("with an upstream that is down: got %q", got)
	}
	if got := asked(t, http.DefaultClient, "HTTP/1.1", "GET", "http://"+addr+"/_admin/current_count", ""); !strings.Contains(got, `"502":1`) {
		t.Errorf("counted is %s", got)
	}
}

// TestOnMissToItself has what nothing takes passed on to where it came from: each
// request ends after a few rounds, whatever the protocol, and is answered by 508.
func TestOnMissToItself(t *testing.T) {
	for _, express := range []string{"", "express\n"} {
		for _, scheme := range []string{"http", "h2c"} {
			t.Run(strings.TrimSpace(express+scheme), func(t *testing.T) {
				method, body := "POST", "a body"
				if scheme == "h2c" { // Caddy's proxy has a race about bodies that a server of HTTP/2 answers without reading
					method, body = "GET", ""
				}
				addr := caddytest.Addr(t)
				caddytest.Run(t, "{\nservers {\nprotocols h1 h2c\n}\n}\nhttp://"+addr+" {\nsimulator {\nadmin\n"+express+
					"route /here {\nbody simulated\nstage 0s 200\n}\non_miss "+scheme+"://"+addr+"\n}\n}\n")
				for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
					client := &http.Client{Transport: &http.Transport{Protocols: new(http.Protocols)}, Timeout: time.Minute}
					client.Transport.(*http.Transport).Protocols.SetHTTP1(protocol == "HTTP/1.1")
					client.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
					defer client.CloseIdleConnections()
					for range 2 { // with express, the second on a connection that was taken over
						for path, want := range map[string]string{"/here": "200 simulated", "/none": "508 "} {
							if got := asked(t, client, protocol, method, "http://"+addr+path, body); got != want {
								t.Errorf("%s %s: got %q, want %q", protocol, path, got, want)
							}
						}
					}
				}
				if got := asked(t, http.DefaultClient, "HTTP/1.1", "GET", "http://"+addr+"/_admin/current_count", ""); !strings.Contains(got, `"508":44`) {
					t.Errorf("counted is %s", got)
				}
			})
		}
	}
}
