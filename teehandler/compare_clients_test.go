// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// versioned serves a version of a service: JSON with its price, nothing for /empty.
func versioned(price int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/empty" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		sayJSON(`{"price":%d}`, price)(w, r)
	}
}

// TestComparedOverEveryProtocol has clients of each protocol ask, also for answers
// without a body and by HEAD: only the price differs, whoever asked.
func TestComparedOverEveryProtocol(t *testing.T) {
	primary, shadow := newUpstream(t, versioned(100)), newUpstream(t, versioned(110))
	body := fmt.Sprintf("tee %s {\nname %s\ntimeout 10s\nadmin\ncompare\n}\nreverse_proxy %s", shadow.addr(), teeName(t), primary.addr())
	asked := int64(0)
	everyProtocol(t, body, func(t *testing.T, client *http.Client, url string) {
		for _, request := range [][2]string{{"GET", "/item"}, {"HEAD", "/item"}, {"GET", "/empty"}, {"HEAD", "/empty"}} {
			req, err := http.NewRequest(request[0], url+request[1], nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, got := drain(t, resp); got != map[bool]string{true: `{"price":100}`}[request == [2]string{"GET", "/item"}] {
				t.Errorf("%s %s: got %s", request[0], request[1], got)
			}
			asked++
		}
		eventually(t, fmt.Sprintf("%d pairs", asked), func() (string, bool) {
			_, text := get(t, client, url+"/_tee/live.json")
			var f found
			if err := json.Unmarshal([]byte(text), &f); err != nil || len(f.Shadows) != 1 || f.Shadows[0].Pairs < asked {
				return text, false
			}
			want := []string{"GET /item differs changed $.price: 100 → 110"}
			if got := fields(&f.Shadows[0].Table); !slices.Equal(got, want) || len(f.Shadows[0].Partial) > 0 {
				t.Errorf("got %q, not compared: %v", got, f.Shadows[0].Partial)
			}
			return "", true
		})
	})
}

// TestAResetIsNoDifference has a client of HTTP/2 reset its stream while the
// primary has yet to answer.
func TestAResetIsNoDifference(t *testing.T) {
	reached, gone := make(chan struct{}), make(chan struct{})
	primary := newUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done()
		close(gone)
	})
	shadow := newUpstream(t, versioned(110))
	_, addr := run(t, func(addr string) string {
		return fmt.Sprintf("{\nservers {\nprotocols h1 h2c\n}\n}\n%s", teeSite(t, addr, primary.addr(), shadow.addr(), "admin\ncompare"))
	})
	ctx, reset := context.WithCancel(t.Context())
	defer reset()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/item", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-reached; reset() }()
	if resp, err := clients(t)["h2c"].Do(req); err == nil {
		resp.Body.Close()
		t.Errorf("got %s", resp.Status)
	}
	<-gone
	if found := table(t, addr, 1); found.Pairs != 0 || found.Partial["primary"] != 1 || len(found.Rows) > 0 {
		t.Errorf("%d pairs, %q, not compared: %v", found.Pairs, fields(found), found.Partial)
	}
}

// TestAPairInFlightOverAReload changes compare while the primary has yet to answer:
// when it does, the pair is compared as it began.
func TestAPairInFlightOverAReload(t *testing.T) {
	release := make(chan struct{})
	primary := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		versioned(100)(w, r)
	})
	shadow, monitor := newUpstream(t, versioned(110)), caddytest.Addr(t)
	config := func(addr, compare string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "admin\n"+compare) + site(monitor, "metrics")
	}
	server, addr := run(t, func(addr string) string { return config(addr, "compare") })
	var client sync.WaitGroup
	client.Go(func() { get(t, &http.Client{Timeout: time.Minute}, "http://"+addr+"/item") })
	shadow.wait(1)
	server.Reload(config(addr, "compare {\nignore_json $.price\n}"))
	close(release)
	client.Wait()
	want := fmt.Sprintf("caddy_tee_compared_total{result=\"different\",shadow=%q,tee=%q} 1\n", shadow.addr(), teeName(t))
	eventually(t, "the pair", func() (string, bool) {
		_, text := get(t, oneShot, "http://"+monitor)
		return text, strings.Contains(text, want) && !strings.Contains(text, fmt.Sprintf("{result=\"timed_out\",shadow=%q", shadow.addr()))
	})
	if len(differences(t, addr).Shadows) != 0 {
		t.Error("the pair counts to those after it")
	}
}
