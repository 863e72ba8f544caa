// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

// Package browsertest opens pages in a real Chromium, for tests.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Patience is how long a test waits for what must come to pass.
const Patience = 60 * time.Second

// Tab is a tab of a real Chromium.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	site string // all that the page may load from

	mu       sync.Mutex
	faults   []string
	requests int
}

// Open opens a page of a site. When the test ends, the page must have had no
// errors and asked no other site for anything.
func Open(t testing.TB, site, path string) *Tab {
	t.Helper()
	b := Start(t, site)
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error(fault)
		}
	})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(site+path))
	return b
}

// Start opens an empty tab to look at a site, whose faults nobody minds.
func Start(t testing.TB, site string) *Tab {
	t.Helper()
	b := &Tab{t: t, site: site}
	tab, _ := chromedp.NewContext(chromium(t), chromedp.WithListener(b.listen))
	t.Cleanup(func() { _ = chromedp.Cancel(tab) })
	b.ctx = tab
	b.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
		return err
	}))
	return b
}

// Main runs the tests of a package and ends the browser that they have started.
// It is called by TestMain, and does not return.
func Main(m *testing.M) {
	code := m.Run()
	End()
	os.Exit(code)
}

// End ends the browser, if one was started, where TestMain has more to do than Main.
func End() {
	if started != nil {
		_ = chromedp.Cancel(started)
	}
}

var started context.Context // the browser that all tests share

// chromium returns the browser, started for the first test.
func chromium(t testing.TB) context.Context {
	t.Helper()
	if started != nil {
		return started
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(Patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"))
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	browser, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	started = browser
	return started
}

// listen notes what a good page does not do.
func (b *Tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		said, _ := json.Marshal(e.Args)
		b.faults = append(b.faults, "console: "+string(said))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "400 (Bad Request)") {
			b.faults = append(b.faults, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		b.requests++
		if url := e.Request.URL; !strings.HasPrefix(url, b.site+"/") && url != "about:blank" {
			b.faults = append(b.faults, "request to "+url)
		}
	}
}

// Do performs actions of chromedp.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Eval returns the value of an expression in the page.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Click clicks an element, once the page has nothing else to do.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	Eval[int](b, fmt.Sprintf("setTimeout(() => document.querySelector(%q).click())", selector))
}

// Fill sets the text of a field.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	Eval[string](b, fmt.Sprintf("document.querySelector(%q).value = %q", selector, text))
}

// Press types text or presses keys in the element that has the focus.
func (b *Tab) Press(keys string, options ...chromedp.KeyOption) {
	b.t.Helper()
	b.Do(chromedp.KeyEvent(keys, options...))
}

// Requested returns how many requests the page has sent.
func (b *Tab) Requested() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests
}

// Until waits until an expression holds in the page.
func (b *Tab) Until(condition string) {
	b.t.Helper()
	if !b.Within(Patience, condition) {
		b.t.Fatalf("it did not come to pass: %s\n%s", condition, Eval[string](b, "document.body.innerText"))
	}
}

// Within waits a while for an expression to hold. In a page that is being left
// nothing holds.
func (b *Tab) Within(limit time.Duration, condition string) bool {
	b.t.Helper()
	evaluate := chromedp.Evaluate[bool]("Boolean(" + condition + ")")
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if holds, err := chromedp.Run(b.ctx, evaluate); err == nil && holds {
			return true
		}
	}
	return false
}
