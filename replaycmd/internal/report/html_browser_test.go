// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package report

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// open opens the page of a report in a browser, which must find nothing wrong
// with it: no violation of its policy, no request for anything else.
func open(t *testing.T, r *Report) *browsertest.Tab {
	t.Helper()
	body := htmlOf(t, r)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, body)
	}))
	t.Cleanup(site.Close)
	return browsertest.Open(t, site.URL, "/")
}

// TestPageInChromium looks at pages of good, failing, hostile and empty runs on
// wide and narrow screens.
func TestPageInChromium(t *testing.T) {
	failing := sampleReport(t, "old", "new", "c", "d", "e")
	failing.Checks = []Check{{Condition: "p99<1ms", Target: "new", Value: "99ms"}}
	none, err := New(Facts{Pace: "max"}, []Result{{Totals: NewCollector(nil).Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		report  *Report
		verdict string
		charts  int
	}{
		"failing": {failing, "Failed", 11}, "hostile": {hostileReport(t), "Failed", 4}, "none": {none, "Incomplete", 0},
	} {
		b := open(t, tc.report)
		if got := browsertest.Eval[string](b, "document.querySelector('h1').innerText"); got != tc.verdict {
			t.Errorf("%s: the verdict is %q", name, got)
		}
		if got := browsertest.Eval[int](b, "document.querySelectorAll('svg[role=img] > title').length"); got != tc.charts {
			t.Errorf("%s: %d charts", name, got)
		}
		for _, width := range []int64{1280, 400} {
			b.Do(chromedp.EmulateViewport(width, 900))
			if over := browsertest.Eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s: %d pixels are too wide for %d", name, over, width)
			}
			// what is drawn lies within its drawing
			if out := browsertest.Eval[int](b, `[...document.querySelectorAll('svg.chart')].filter(s => { const b = s.getBoundingClientRect();
				return [...s.querySelectorAll('path.line, text')].some(e => { const r = e.getBoundingClientRect();
					return r.left < b.left - 4 || r.right > b.right + 4 || r.top < b.top - 4 || r.bottom > b.bottom + 4 }) }).length`); out > 0 {
				t.Errorf("%s: at %d pixels %d charts draw beyond their edges", name, width, out)
			}
		}
		// what differs is read without scrolling to the side, on the narrow screen as well
		if out := browsertest.Eval[int](b, "[...document.querySelectorAll('.scroll:has(.stacks)')].filter(e => e.scrollWidth > e.clientWidth).length"); out > 0 {
			t.Errorf("%s: %d tables of differences are too wide", name, out)
		}
		if styled := browsertest.Eval[string](b, "getComputedStyle(document.querySelector('.verdict')).borderTopStyle"); styled == "none" {
			t.Errorf("%s: the page has no style: its policy refuses it", name)
		}
		if name == "hostile" {
			text := browsertest.Eval[string](b, "document.body.innerText")
			if strings.Count(text, "<script>alert(1)</script>") < 8 || browsertest.Eval[int](b, "document.scripts.length + document.images.length") > 0 {
				t.Errorf("hostile names are not text in\n%s", text)
			}
		}
	}
}
