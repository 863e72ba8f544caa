// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

func TestPercent(t *testing.T) {
	for option, want := range map[string]int{"": 10, "percent 0": 0, "percent 100": 10, "percent 50": 5} {
		t.Run(option, func(t *testing.T) {
			shadow := newUpstream(t, nil)
			_, addr := run(t, func(addr string) string {
				return site(addr, fmt.Sprintf("tee %s {\nname %s\n%s\n}\nrespond ok", shadow.URL, teeName(t), option))
			})
			for range 10 {
				get(t, http.DefaultClient, "http://"+addr)
			}
			shadow.wait(want)
			waitOutcome(t, shadow.URL, "sent_2xx", want)
		})
	}
}

// requests makes requests as a handler gets them.
func requests(n int, shape func(i int, r *http.Request)) []*http.Request {
	all := make([]*http.Request, n)
	for i := range all {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		shape(i, r)
		all[i] = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
	}
	return all
}

func TestSampleBySticksToTheKey(t *testing.T) {
	ten := units.Percent(10)
	for by, shape := range map[string]func(i int, r *http.Request){
		"cookie session":    func(i int, r *http.Request) { r.AddCookie(&http.Cookie{Name: "session", Value: fmt.Sprint("s", i)}) },
		"header x-customer": func(i int, r *http.Request) { r.Header.Set("X-Customer", fmt.Sprint("c", i)) },
		"header host":       func(i int, r *http.Request) { r.Host = fmt.Sprint("h", i) },
		"bearer":            func(i int, r *http.Request) { r.Header.Set("Authorization", fmt.Sprint("bearer  t", i)) },
		"client_ip":         func(i int, r *http.Request) { r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:99", i/250, i%250) },
		"uri": func(i int, r *http.Request) {
			r.RequestURI = fmt.Sprint("/?", i)
			r.URL.RawQuery = fmt.Sprint(i)
		},
	} {
		key, err := parseText[SampleBy](by)
		if err != nil {
			t.Fatal(err)
		}
		first, second := newSampler(&ten, &key, 0), newSampler(&ten, &key, 0)
		taken := 0
		for _, r := range requests(2000, shape) {
			wanted := first.wants(r)
			if wanted {
				taken++
			}
			if first.wants(r) != wanted || second.wants(r) != wanted {
				t.Fatalf("%s: the same key is in and out", by)
			}
		}
		if taken < 150 || taken > 250 {
			t.Errorf("%s: %d of 2000 keys are in, want 200", by, taken)
		}
	}
}

func TestRequestsWithoutTheKeyHaveTheirShare(t *testing.T) {
	ten := units.Percent(10)
	for _, by := range []string{"cookie session", "bearer"} {
		key, _ := parseText[SampleBy](by)
		s := newSampler(&ten, &key, 0)
		taken := 0
		for _, r := range requests(1000, func(_ int, r *http.Request) { r.Header.Set("Authorization", "Basic c2FtZQ==") }) {
			if s.wants(r) {
				taken++
			}
		}
		if taken < 97 || taken > 103 {
			t.Errorf("%s: %d of 1000 are in, want 100", by, taken)
		}
	}
}

func TestLeavingOutCostsNothing(t *testing.T) {
	zero := units.Percent(0)
	h := &Handler{sampler: newSampler(&zero, nil, 0)}
	next := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	if n := testing.AllocsPerRun(100, func() { _ = h.ServeHTTP(w, r, next) }); n != 0 {
		t.Errorf("a request that is not copied costs %v allocations", n)
	}
}

func TestRateLimit(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\nrate_limit 0.001/s\n}\nrespond ok", shadow.URL, teeName(t)))
	})
	for range 20 {
		get(t, http.DefaultClient, "http://"+addr)
	}
	waitOutcome(t, shadow.URL, "dropped_rate", 19)
	waitOutcome(t, shadow.URL, "sent_2xx", 1)
}

func TestRateLimitCountsOnlyWhatIsCopied(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\nrate_limit 0.001/s\nmax_body 4\n}\nrespond ok", shadow.URL, teeName(t)))
	})
	for range 3 {
		post(t, http.DefaultClient, "http://"+addr, strings.NewReader("too large"))
	}
	get(t, http.DefaultClient, "http://"+addr)
	waitOutcome(t, shadow.URL, "dropped_body_size", 3)
	waitOutcome(t, shadow.URL, "sent_2xx", 1)
}

func TestTextForms(t *testing.T) {
	for _, text := range []string{`"client_ip"`, `"uri"`, `"bearer"`, `"header X-A"`, `"cookie a"`} {
		var by SampleBy
		if err := json.Unmarshal([]byte(text), &by); err != nil {
			t.Error(err)
		}
		if back, _ := json.Marshal(by); string(back) != text {
			t.Errorf("%s became %s", text, back)
		}
	}
	for _, text := range []string{`"50/s"`, `"0.5/s"`, `"100000/s"`} {
		var rate Rate
		if err := json.Unmarshal([]byte(text), &rate); err != nil {
			t.Error(err)
		}
		if back, _ := json.Marshal(rate); string(back) != text {
			t.Errorf("%s became %s", text, back)
		}
	}
}

func FuzzTexts(f *testing.F) {
	for _, seed := range []string{"client_ip", "cookie a", "50/s", "2xx", "304", "1e309/s", "NaN/s", "-1/s", "http://[::1]:80/a", "::1", "unix//a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if by, err := parseText[SampleBy](text); err == nil {
			again, _ := by.MarshalText()
			if back, err := parseText[SampleBy](string(again)); err != nil || back != by {
				t.Errorf("%q became %q: %v", text, again, err)
			}
		}
		if rate, err := parseText[Rate](text); err == nil && !(rate > 0) {
			t.Errorf("%q is the rate %v", text, rate)
		}
		if status, err := parseText[Status](text); err == nil {
			again, _ := json.Marshal(status)
			var back Status
			if err := json.Unmarshal(again, &back); err != nil || back != status {
				t.Errorf("%q became %s: %v", text, again, err)
			}
		}
		if a, err := parseAddress(text); err == nil && (a.dial == "" || a.host == "" || strings.ContainsAny(a.base+a.host, " \r\n")) {
			t.Errorf("%q is the address %+v", text, a)
		}
	})
}
