// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package livepage_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/caddy-rehearsal/rehearsal/internal/browsertest"
)

// tabTo presses the tabulator until an element has the focus.
func tabTo(t testing.TB, b *browsertest.Tab, selector string) {
	t.Helper()
	for range 60 {
		if browsertest.Eval[bool](b, `document.activeElement.matches("`+selector+`")`) {
			return
		}
		b.Press(kb.Tab)
	}
	t.Fatalf("the tabulator does not lead to %s", selector)
}

// TestKeyboardAlone posts a recipe, restarts the clock and removes all recipes
// without a pointer.
func TestKeyboardAlone(t *testing.T) {
	url := serve(t)
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(`document.querySelector("#connection").textContent === "Live"`)
	tabTo(t, b, "#recipe")
	b.Press("a", chromedp.KeyModifiers(kb.ModifierCtrl))
	b.Press(`{"route":"/typed","stages":[{"status":201},{"at":"1h"}]}`)
	tabTo(t, b, "#post [type=submit]")
	b.Press(kb.Enter)
	b.Until(current("/typed") + `?.innerText.includes("201")`)

	key := card("/typed") + ".dataset.key"
	before := browsertest.Eval[string](b, key)
	tabTo(t, b, "#restart-clock")
	b.Press(kb.Enter)
	b.Until(`document.querySelector("dialog").open && document.activeElement.textContent === "Cancel"`)
	b.Press(kb.Escape)
	b.Until(`!document.querySelector("dialog").open && document.activeElement.id === "restart-clock"`)
	if after := browsertest.Eval[string](b, key); after != before {
		t.Error("it has started again although that was cancelled")
	}
	b.Press(kb.Enter)
	tabTo(t, b, "#confirm-yes")
	b.Press(kb.Enter)
	b.Until(`document.querySelector("#notice").textContent === "The clock has started again."`)
	b.Until(card("/typed") + ` && ` + key + ` !== "` + before + `"`)

	tabTo(t, b, "#remove-recipes")
	b.Press(kb.Enter)
	tabTo(t, b, "#confirm-yes")
	b.Press(kb.Enter)
	b.Until(`document.querySelectorAll("article").length === 0 && document.querySelector("#notice").textContent === "All recipes were removed."`)
	if status, _, _ := ask(t, "GET", url+"/typed", ""); status != 406 {
		t.Errorf("got %d", status)
	}
}

// TestScreenReader holds that what can be operated or changes by itself has a
// name or a role.
func TestScreenReader(t *testing.T) {
	url := serve(t, "stage 0 200", "stage 1h 503")
	b := browsertest.Open(t, url, "/_admin/")
	b.Until(`document.querySelectorAll("article").length === 1`)
	for _, holds := range []string{
		`document.documentElement.lang === "en"`,
		`[...document.querySelectorAll("input, textarea")].every((field) => field.labels.length > 0)`,
		`[...document.querySelectorAll("button, a")].every((target) => target.textContent.trim() !== "" || target.id === "confirm-yes")`,
		`[...document.querySelectorAll("article, .timeline, .line")].every((part) => part.getAttribute("aria-label"))`,
		`document.querySelector("#recipe").getAttribute("aria-describedby").split(" ").every((id) => document.getElementById(id))`,
		`["problem", "recipe-problem"].every((id) => document.getElementById(id).getAttribute("role") === "alert")`,
		`["connection", "notice", "recipe-notice"].every((id) => document.getElementById(id).getAttribute("role") === "status")`,
		`document.querySelectorAll(".timeline [aria-current=step]").length === 1`,
	} {
		if !browsertest.Eval[bool](b, holds) {
			t.Errorf("it does not hold: %s", holds)
		}
	}
}
