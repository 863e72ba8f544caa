// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	_ "github.com/caddy-rehearsal/rehearsal/simulator" // has the page
)

func init() { atEnd = browsertest.End }

// TestPage watches services on the simulator's live page: their names are text,
// whatever they are, and nothing has to be scrolled sideways.
func TestPage(t *testing.T) {
	const markup = `<img src=x onerror=globalThis.caught=1><script>globalThis.caught=1</script>`
	long := strings.Repeat("long", 50)
	b := started(t)
	site := caddytest.Addr(t)
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	withQueues := func(queues string) string {
		return fmt.Sprintf("{\nadmin %s\n%s\n}\nhttp://%s {\nsimulator {\nname demo\nadmin\n}\n}\n", s.admin, queues, site)
	}
	s.Server = caddytest.Run(t, withQueues(fmt.Sprintf("queue_simulator {\nbroker `%[1]s` stomp://%[2]s\n"+
		"service %[3]s {\nname `%[1]s`\nstage 0s\nstage 1000h 1s\n}\nservice `/queue/%[1]s%[4]s` {\nname %[4]s\nstage 0s\n}\n}", markup, b.Addr, requests, long)))
	for range 3 {
		b.Put(requests, "", "reply-to", replies)
	}
	b.Put(requests, "")
	b.AwaitUnsettled(0)

	tab := browsertest.Open(t, "http://"+site, "/_admin/")
	card := func(name string) string {
		return fmt.Sprintf("[...document.querySelectorAll(`#queues article`)].find((a) => a.querySelector(`h3`).textContent === `%s`)", name)
	}
	tab.Until(card(markup) + "?.innerText.includes(`Receiving`)")
	tab.Until(card(markup) + "?.querySelector(`.numbers`).textContent.endsWith(`4 in all · 0 in hand on the address · stage 1 of 2`)")
	tab.Until(card(markup) + "?.querySelector(`.bars`).innerText.replace(/\\s+/g, ` `) === `answered 3 unanswerable 1`")
	tab.Until(card(long) + "?.querySelector(`.words`).innerText.includes(`address /queue/<img`)")
	for _, width := range []int64{400, 700, 1280} {
		tab.Do(chromedp.EmulateViewport(width, 800))
		if over := browsertest.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
			t.Errorf("at %d pixels, %d more are needed", width, over)
		}
	}
	find := func(text string) {
		browsertest.Eval[bool](tab, fmt.Sprintf(`((find) => { find.value = %q; return find.dispatchEvent(new Event("input")); })(document.querySelector("#find"))`, text))
	}
	find("nothing like it")
	tab.Until("document.querySelector(`#queues-found`).textContent === `None of 2 match`")
	find(long)
	tab.Until("document.querySelector(`#queues-found`).textContent === `1 of 2` && document.querySelectorAll(`#queues article`).length === 1")
	find("")
	b.Stop()
	tab.Until(card(markup) + "?.innerText.includes(`Not connected`)")
	if browsertest.Eval[bool](tab, `"caught" in globalThis || document.querySelectorAll("img, body script").length > 0`) {
		t.Error("the name of a service became part of the page")
	}
	s.Reload(withQueues(""))
	tab.Until("document.querySelector(`#queues-part`).hidden && document.querySelectorAll(`#queues article`).length === 0")
}
