// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package comparison_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	_ "github.com/caddy-rehearsal/rehearsal/teehandler" // has the page served
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// TestPage holds that the page shows what differs, an example of it as text, and
// nothing any more after a reset, also on a narrow screen.
func TestPage(t *testing.T) {
	const hostile = `<script>globalThis.caught = 1</script><img src=x onerror='globalThis.caught = 1'>`
	shadow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"say":%q}`, hostile)
	}))
	t.Cleanup(shadow.Close)
	addr := caddytest.Addr(t)
	caddytest.Run(t, fmt.Sprintf(`http://%s {
	tee %s {
		name page
		compare
		admin /seen/here
	}
	header Content-Type application/json
	respond "{\"say\":\"hello\"}"
}
`, addr, shadow.URL))
	url := "http://" + addr
	resp, err := http.Get(url + "/items/1")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()

	b := browsertest.Open(t, url, "/seen/here")
	const row = `document.querySelector("tbody tr")`
	b.Until(`document.title === "page – tee" && ` + row + `?.innerText.includes("$.say")`)
	b.Until(row + `.innerText.includes("GET /items/*") && ` + row + `.innerText.includes("hello")`)
	b.Click("tbody button")
	b.Until(`document.querySelector("#example").open && document.querySelector("#pair").textContent.includes("<script>globalThis.caught")`)
	narrow := func() {
		for _, width := range []int64{400, 1280} {
			b.Do(chromedp.EmulateViewport(width, 800))
			if over := browsertest.Eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("at %d pixels, %d more are needed", width, over)
			}
		}
	}
	narrow()
	if browsertest.Eval[bool](b, `"caught" in globalThis || document.querySelectorAll("img, body script").length > 0`) {
		t.Error("what a shadow responds is taken for markup")
	}
	b.Click("#example button")
	b.Until(`!document.querySelector("#example").open`)
	narrow()
	b.Click("#reset")
	b.Click("#confirm-yes")
	b.Until(`document.querySelector("#notice").textContent === "The counts begin at zero." && ` + row + ` === null`)
}
