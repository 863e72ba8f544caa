// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// origin serves a page in the way that its path says, and counts.
func origin(t *testing.T) (url string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/page":
			w.Header().Set("Content-Type", "image/x-test")
			fmt.Fprintf(w, "page for %s, %s", r.Header.Get("Accept-Encoding"), r.Header.Get("X-Key"))
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			fmt.Fprint(zip, "zipped")
			_ = zip.Close()
		case "/elsewhere":
			w.Header().Set("Location", "http://other:s3cretpw@127.0.0.1:1/")
			w.WriteHeader(http.StatusFound)
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "?")
		case "/large":
			_, _ = w.Write(make([]byte, recipe.LargestBody+1))
		default:
			http.Error(w, "no", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestPostedOriginIsFetchedFirst(t *testing.T) {
	url, _ := origin(t)
	for _, tc := range []struct{ origin, headers, want, media string }{
		{url + "/page", `"x-key":"7"`, "page for identity, 7", "image/x-test"},
		{url + "/moved", `"x-key":"7","content-type":"own/type"`, "page for identity, 7", "own/type"},
		{url + "/page", `"content-encoding":"gzip"`, "page for gzip, ", "image/x-test"},
		{url + "/gzip", `"content-encoding":"gzip"`, "zipped", "text/html; charset=utf-8"},
		{url + "/gzip", "", "zipped", "text/html; charset=utf-8"},
	} {
		s := play(t, "")
		if err := s.Add(t.Context(), parse(t, `{"origin":"`+tc.origin+`","headers":{`+tc.headers+`},"stages":[{}]}`)); err != nil {
			t.Errorf("%s: %v", tc.origin, err)
			continue
		}
		a := ask(t, s, "/any")
		got := bodyOf(a)
		if strings.Contains(tc.headers, "encoding") {
			got = unzip(t, a)
		}
		if got != tc.want || field(a, "Content-Type") != tc.media {
			t.Errorf("%s: got %q of type %q", tc.origin, got, field(a, "Content-Type"))
		}
	}
}

// TestOriginThatCannotBeHadChangesNothing holds for one of several too.
func TestOriginThatCannotBeHadChangesNothing(t *testing.T) {
	url, _ := origin(t)
	s := play(t, `{"body":"old","stages":[{}]}`)
	for _, tc := range []struct{ origin, headers, want string }{
		{url + "/none", "", "404 Not Found"},
		{url + "/brotli", "", "encoded as br"},
		{url + "/brotli", `"content-encoding":"gzip"`, "encoded as br"},
		{url + "/large", "", "more than"},
		{"http://127.0.0.1:1/", "", "refused"},
		{"http://name.invalid/", "", "name.invalid"},
	} {
		err := s.Add(t.Context(), parse(t, `[{"route":"/*","body":"new","stages":[{}]},{"route":"/o","origin":"`+tc.origin+`","headers":{`+tc.headers+`},"stages":[{}]}]`))
		if err == nil || !strings.HasPrefix(err.Error(), "recipes[1].origin: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v", tc.origin, err)
		}
		if got := bodyOf(ask(t, s, "/o")); got != "old" {
			t.Errorf("%s: what runs became %q", tc.origin, got)
		}
	}
}

// TestConfiguredOriginIsFetchedWhenTheScenarioBegins holds that it is not
// before, that errors do not need it, and that the client is told meanwhile.
func TestConfiguredOriginIsFetchedWhenTheScenarioBegins(t *testing.T) {
	url, asked := origin(t)
	s := play(t, `[{"route":"/ok","origin":"`+url+`/page","stages":[{}]},{"route":"/error","origin":"`+url+`/page","stages":[{"status":503}]},{"route":"/gone","origin":"`+url+`/none","stages":[{}]}]`)
	if a := ask(t, s, "/ok"); a.Status != 502 || !strings.Contains(bodyOf(a), "not been fetched yet") {
		t.Errorf("before: got %d %s", a.Status, bodyOf(a))
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the origin was asked %d times before the scenario began", n)
	}
	for range 3 {
		if err := s.Begin(zap.NewNop()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() bool { return ask(t, s, "/ok").Status == 200 })
	eventually(t, func() bool { return strings.Contains(bodyOf(ask(t, s, "/gone")), "404 Not Found") })
	if a := ask(t, s, "/error"); a.Status != 503 || bodyOf(a) != "Error 503" {
		t.Errorf("got %d %s", a.Status, bodyOf(a))
	}
}

// TestNothingOfAnOriginIsTold holds that neither what clients get, nor errors,
// nor the log have credentials, and that clients get no address either.
func TestNothingOfAnOriginIsTold(t *testing.T) {
	base, _ := origin(t)
	host := strings.TrimPrefix(base, "http://")
	core, logs := observer.New(zap.DebugLevel)
	for _, tc := range []struct{ origin, want string }{
		{"http://user:s3cretpw@" + host + "/none?token=s3cretpw", "it answered 404 Not Found"},
		{"http://user:s3cretpw@" + host + "/elsewhere", "it cannot be fetched"},
		{"http://user:s3cretpw@127.0.0.1:1/", "it cannot be fetched"},
		{"http://user:s3cretpw@name.invalid/", "it cannot be fetched"},
	} {
		s := play(t, `{"origin":"`+tc.origin+`","stages":[{}]}`)
		if err := s.Begin(zap.New(core)); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return !strings.Contains(bodyOf(ask(t, s, "/")), "not been fetched yet") })
		if got := bodyOf(ask(t, s, "/")); got != "Origin not available: "+tc.want {
			t.Errorf("%s: clients get %q", tc.origin, got)
		}
		err := s.Add(t.Context(), parse(t, `{"origin":"`+tc.origin+`","stages":[{}]}`))
		if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "://") {
			t.Errorf("%s: got error %v", tc.origin, err)
		}
		if shown, err := json.Marshal(s.Recipes()); err != nil || strings.Contains(string(shown), "user:") {
			t.Errorf("%s: shown as %s, %v", tc.origin, shown, err)
		}
		eventually(t, func() bool { return logs.FilterMessage("cannot fetch origin").Len() > 0 })
		for _, entry := range logs.TakeAll() {
			if text := fmt.Sprint(entry.Message, entry.ContextMap()); strings.Contains(text, "s3cret") || strings.Contains(text, "user") {
				t.Errorf("logged: %s", text)
			}
		}
	}
}

// TestEveryFetchIsMarked holds the field by which Caddy's admin endpoint refuses
// what is fetched, also where another place redirects to it and whatever a
// recipe says.
func TestEveryFetchIsMarked(t *testing.T) {
	modes := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		modes <- r.Header.Get("Sec-Fetch-Mode")
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/config/", http.StatusFound)
		}
	}))
	defer server.Close()
	if err := play(t, "").Add(t.Context(), parse(t, `{"origin":"`+server.URL+`","headers":{"sec-fetch-mode":"cors"},"stages":[{}]}`)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if mode := <-modes; mode != "no-cors" {
			t.Errorf("got %q", mode)
		}
	}
}

func TestOriginIsAskedAgain(t *testing.T) {
	var up atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up.Swap(true) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, "there")
	}))
	defer server.Close()
	s := play(t, `{"origin":"`+server.URL+`","stages":[{}]}`)
	if err := s.Begin(zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return bodyOf(ask(t, s, "/")) == "there" })
}

func eventually(t *testing.T, what func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !what(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass")
		}
	}
}
