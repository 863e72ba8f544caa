// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

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
