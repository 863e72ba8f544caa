// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package livepage_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// TestOtherSitesPageChangesNothing holds for a page of another origin that a
// browser has open: neither a form, nor a script, nor a link does anything.
func TestOtherSitesPageChangesNothing(t *testing.T) {
	url := serve(t, "stage 0 204")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" enctype="text/plain" action="%[1]s/_admin/add_recipe">`+
			`<input name='{"stages":[{"status":500}],"body":"' value='"}'><button>Win</button></form>`+
			`<a href="%[1]s/_admin/restart">Win</a>`, url)
	}))
	defer other.Close()
	b := browsertest.Start(t, other.URL)
	for _, selector := range []string{"button", "a"} {
		b.Do(chromedp.Navigate(other.URL))
		b.Click(selector)
		b.Until(`document.body.innerText.includes("a page of another site may not do this")`)
	}
	b.Do(chromedp.Navigate(other.URL))
	script := fmt.Sprintf(`fetch("%s/_admin/restart_clock", {method: "POST", mode: "no-cors"}).then(() => document.title = "sent")`, url)
	browsertest.Eval[*struct{}](b, "void "+script)
	b.Until(`document.title === "sent"`)
	if status, _, _ := ask(t, "GET", url+"/", ""); status != 204 {
		t.Errorf("what runs answers %d", status)
	}
	if routes := look(t, url+"/_admin/live.json").Routes; len(routes) != 1 || routes[0].Stages[0].Outcomes[0].Status != 204 {
		t.Errorf("what runs became %+v", routes)
	}
}

// TestOtherSitesImageChangesNothing holds over plain HTTP to what is not the
// browser's own machine: there it says nothing of sites.
func TestOtherSitesImageChangesNothing(t *testing.T) {
	_, port, _ := net.SplitHostPort(caddytest.Addr(t))
	url := "http://simulator.test:" + port
	caddytest.Run(t, site("simulator.test:"+port, "stage 0 204"))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<img src="%[1]s/_admin/restart" onerror="title = 'sent'"><img src="%[1]s/_admin/restart" referrerpolicy="no-referrer" onerror="alt = 'sent'">`+
			`<a href="%[1]s/_admin/restart" rel="noreferrer">Win</a>`, url)
	}))
	defer other.Close()
	_, port, _ = net.SplitHostPort(other.Listener.Addr().String())
	b := browsertest.Start(t, url)
	b.Do(chromedp.Navigate("http://other.test:" + port))
	b.Until(`document.images[0].title === "sent" && document.images[1].alt === "sent"`)
	b.Click("a")
	b.Until(`document.body.innerText.includes("a browser may not do this")`)
	b.Do(chromedp.Navigate(url + "/_admin/"))
	b.Until(current("/*") + `?.innerText.includes("204")`)
	b.Click("#remove-recipes")
	b.Click("#confirm-yes")
	b.Until(`document.querySelector("#notice").textContent === "All recipes were removed."`)
}
