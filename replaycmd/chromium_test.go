// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package replaycmd

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// playwright drives Debian's Chromium, and has it record.
const playwright = "playwright-core@1.65.1"

const browse = `
const { chromium } = require('playwright-core');
(async () => {
	const [executablePath, path, origin] = process.argv.slice(2);
	const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
	const context = await browser.newContext({ recordHar: { path, mode: 'full', content: 'embed' } });
	const page = await context.newPage();
	await page.goto(origin + '/');
	await page.evaluate(async () => {
		const ask = async (...of) => (await fetch(...of)).text(); // a body that nobody reads may not be kept
		await ask('/a%2Fb//c?x=1;y=%20+&z', { headers: { 'X-Tag': 'one' } });
		await ask('/orders', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ sku: 'ä€' }) });
		await ask('/form', { method: 'POST', body: new URLSearchParams({ a: '1+2', b: 'é' }) });
		await ask('/orders/17', { method: 'DELETE' });
	});
	await context.close();
	await browser.close();
})().catch(error => { console.error(error); process.exit(1); });
`

// What a Chromium has recorded of itself is what its server has seen, and arrives
// where it is replayed to.
func TestChromiumIsReplayed(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/favicon.ico" { // of which Playwright says nothing
			return
		}
		mu.Lock()
		seen = append(seen, fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-Tag"), body))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>ä</title>")
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	har, script := filepath.Join(dir, "browser.har"), filepath.Join(dir, "browse.cjs")
	if err := os.WriteFile(script, []byte(browse), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"npm", "install", "--no-audit", "--no-fund", "--prefix", dir, playwright},
		{"node", script, executable(t, "chromium"), har, site.URL},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command[:2], err, out)
		}
	}
	var recorded []string
	for _, r := range read(t, har) {
		tag := ""
		for _, field := range fieldsOf(r) {
			if value, found := strings.CutPrefix(field, "x-tag: "); found {
				tag = value
			}
		}
		recorded = append(recorded, fmt.Sprintf("%s %s %s %s", r.Method, r.URI, tag, r.Body))
		if r.Response == nil || r.Response.Status != 200 || r.Method[0] == 'G' && string(r.Response.Body) != "<!doctype html><title>ä</title>" {
			t.Errorf("%s %s: response %+v", r.Method, r.URI, r.Response)
		}
	}
	if len(seen) != 5 || !slices.Equal(recorded, seen) {
		t.Errorf("the browser has recorded\n%q\nand sent\n%q", recorded, seen)
	}
	arriveWhole(t, har)
}

func executable(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
