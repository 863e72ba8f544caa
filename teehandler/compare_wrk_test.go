// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package teehandler_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// wrkScript asks for items, every tenth in JPY and every fiftieth where none is,
// and prints what was answered, each response once: status, header but for what is
// new in every one, body.
const wrkScript = `
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() n, seen = 0, {} end
function request()
	n = n + 1
	if n % 50 == 1 then return wrk.format("GET", "/none/" .. n) end
	return wrk.format("GET", "/items/" .. n .. "?currency=" .. (n % 10 == 2 and "JPY" or "EUR"))
end
function response(status, headers, body)
	local fields = {}
	for name, value in pairs(headers) do
		if name ~= "Date" and name ~= "X-Queue" then table.insert(fields, name .. ": " .. value) end
	end
	table.sort(fields)
	seen[status .. " " .. table.concat(fields, ", ") .. " " .. body] = true
end
function done(summary)
	for _, thread in ipairs(threads) do
		for answer in pairs(thread:get("seen")) do print("ANSWER " .. answer) end
	end
	local e = summary.errors
	print("BROKEN " .. e.connect + e.read + e.write + e.timeout)
end
`

// wrk loads a site and returns which different responses it got.
func wrk(t *testing.T, url string) (answers []string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "items.lua")
	if err := os.WriteFile(script, []byte(wrkScript), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "wrk", "-t", "2", "-c", "16", "-d", "2s", "-s", script, url).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nBROKEN 0\n") {
		t.Fatalf("wrk: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if answer, ok := strings.CutPrefix(line, "ANSWER "); ok {
			answers = append(answers, answer)
		}
	}
	slices.Sort(answers)
	return slices.Compact(answers)
}

// TestComparedUnderWrk compares live under load: clients get the bytes that they
// get without a tee, the one difference is proved, and a pair that was saved is
// sent again by its ID.
func TestComparedUnderWrk(t *testing.T) {
	shop, plain, primary, twin, candidate := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	dir := t.TempDir()
	version := func(addresses, price string) string {
		return fmt.Sprintf(`%s {
	header Content-Type application/json
	header X-Queue {http.request.uuid}
	@none path /none/*
	respond @none gone 404
	@jpy query currency=JPY
	respond @jpy "{\"price\": %s, \"currency\": \"JPY\"}"
	respond "{\"price\": 7, \"currency\": \"EUR\"}"
}
`, addresses, price)
	}
	caddytest.Run(t, fmt.Sprintf(`http://%s {
	tee http://%s {
		name under_wrk
		timeout 30s
		compare {
			noise http://%s
			save %s {
				flush_every 10ms
			}
		}
		admin
	}
	reverse_proxy %s
}
http://%s {
	reverse_proxy %s
}
`, shop, candidate, twin, dir, primary, plain, primary)+
		version("http://"+primary+", http://"+twin, "1000")+version("http://"+candidate, "1100"))

	without, with := wrk(t, "http://"+plain), wrk(t, "http://"+shop)
	if len(without) != 3 || !slices.Equal(with, without) {
		t.Errorf("with a tee that compares clients got\n%s\nand without\n%s", strings.Join(with, ""), strings.Join(without, ""))
	}

	row := provedOnly(t, shop)
	if row.Endpoint+" "+row.Field != "GET /items/* $.price" || row.Old != "1000" || row.New != "1100" || row.OnlyWhere != "currency=JPY" {
		t.Errorf("the difference is %+v", row)
	}
	for _, side := range []string{"old", "new"} {
		for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			files, _ := filepath.Glob(filepath.Join(dir, side, "*")) // also the one that is being written
			args := slices.Concat([]string{"replay", "-i", row.ID, "--compare=old", "--to", "old=" + primary, "--to", "new=" + candidate}, files)
			out, err := caddytest.Command(t, args...).CombinedOutput()
			if err == nil && strings.Contains(string(out), "$.price changed: 1000 → 1100\n") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("replaying %s of the pair %s: %v\n%s", side, row.ID, err, out)
			}
		}
	}
}

// provedOnly waits until the tee of a site has proved one field, and returns it.
// The rest of what is found has to be noise.
func provedOnly(t *testing.T, addr string) tally.Row {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var found struct{ Shadows []tally.Table }
		if err := json.Unmarshal([]byte(visit(t, addr+"/_tee/live.json")), &found); err != nil {
			t.Fatal(err)
		}
		if len(found.Shadows) == 1 && found.Shadows[0].Diffs() == 1 && found.Shadows[0].Rows[0].Class == tally.Proved {
			return found.Shadows[0].Rows[0]
		}
		if time.Now().After(deadline) {
			t.Fatalf("found is %+v", found)
		}
	}
}
