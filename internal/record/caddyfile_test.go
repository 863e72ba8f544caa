// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// parse reads a record option with a directory and a block.
func parse(dir, block string) (*Options, error) {
	d := caddyfile.NewTestDispenser("record " + dir + " {\n" + block + "\n}")
	d.Next()
	return ParseOption(d)
}

func TestCaddyfileBecomesJSON(t *testing.T) {
	for block, want := range map[string]string{
		"":                                    `{"dir":"recordings"}`,
		"compression none\non_overflow block": `{"dir":"recordings","compression":"none","on_overflow":"block"}`,
		`prefix shop
		compression lz4 9
		rotate_size 100KB
		rotate_every 1h30m
		keep 100
		keep 7d
		keep 50GiB
		flush_every 500ms
		max_body 1MiB
		memory 8MiB
		on_overflow drop
		redact Authorization Cookie
		redact X-Token
		redact_query token "odd name"
		redact_json $.card.number "$['odd name']"
		redact_hash X-User
		redact_query_hash sid
		redact_json_hash $.user.id
		redact_key {env.KEY}
		original_uri X-Original-URI
		mode 0640`: `{"dir":"recordings","prefix":"shop","compression":"lz4 9","rotate_size":"100000","rotate_every":5400000000000,` +
			`"keep":["100","168h0m0s","53687091200B"],"flush_every":500000000,"max_body":"1MiB","memory":"8MiB","on_overflow":"drop",` +
			`"redact":["Authorization","Cookie","X-Token"],"redact_query":["token","odd name"],"redact_json":["$.card.number","$['odd name']"],` +
			`"redact_hash":["X-User"],"redact_query_hash":["sid"],"redact_json_hash":["$.user.id"],"redact_key":"{env.KEY}",` +
			`"original_uri":"X-Original-URI","mode":"0640"}`,
	} {
		o, err := parse("recordings", block)
		if err != nil {
			t.Errorf("%s: %v", block, err)
			continue
		}
		got, err := json.Marshal(o)
		if err != nil || string(got) != want {
			t.Errorf("%s:\ngot  %s, error %v\nwant %s", block, got, err, want)
		}
		var again Options
		if err := json.Unmarshal(got, &again); err != nil {
			t.Errorf("reading %s: %v", got, err)
		}
		if twice, _ := json.Marshal(&again); string(twice) != string(got) {
			t.Errorf("got %s, read again %s", got, twice)
		}
	}
}

func TestBadOptionsAreRefusedWithTheirLine(t *testing.T) {
	for block, want := range map[string]string{
		"rotate_size 0":        "parsing rotate_size: must be greater than 0, is '0', at Testfile:2",
		"rotate_size big":      "parsing rotate_size: 'big' is not a size",
		"rotate_every 0s":      "parsing rotate_every: must be greater than 0, is '0s'",
		"rotate_every 5 sec":   "wrong argument count",
		"keep never":           "parsing keep: 'never' is neither a number of files, an age like 7d nor a size like 50GiB, at Testfile:2",
		"keep 0":               "parsing keep: '0' would keep nothing",
		"flush_every -1s":      "parsing flush_every",
		"max_body 0":           "parsing max_body",
		"max_body 1GiB":        "parsing max_body: at most 256 MiB of a body can be recorded, at Testfile:2",
		"memory 0":             "parsing memory",
		"on_overflow wait":     "parsing on_overflow: 'wait' is neither block nor drop",
		"redact":               "wrong argument count",
		"redact_query":         "wrong argument count",
		"redact_json $..id":    "parsing redact_json: '$..id' is not a JSON path: at character 2: '..' is not taken: write every step, at Testfile:2",
		"original_uri a:b":     "parsing original_uri: 'a:b' is not a header field name",
		"redact a:b":           "parsing redact: 'a:b' is not a header field name",
		"mode 0999":            "parsing mode: '0999' is not a file mode: expected an octal number like 0600, at Testfile:2",
		"redact_key secret":    "parsing redact_key: a key has at least 16 characters, at Testfile:2",
		"redact_hash A:":       "parsing redact_hash: ",
		"redact_json_hash a":   "parsing redact_json_hash: 'a' is not a JSON path",
		"mode 0440":            "parsing mode: '0440' does not let the owner read and write: expected a file mode like 0600, at Testfile:2",
		"compression":          "wrong argument count",
		"compression gzip":     "parsing compression: 'gzip' is not a compression",
		"prefix a/b":           "parsing prefix: 'a/b' cannot start a file name",
		"rotate 1h":            "unrecognized record option 'rotate': expected one of compression, flush_every, keep, max_body, memory, mode, on_overflow, original_uri, prefix, redact, redact_hash, redact_json, redact_json_hash, redact_key, redact_query, redact_query_hash, rotate_every, rotate_size, store, at Testfile:2",
		"mode 0600\nmode 0600": "mode already specified",
	} {
		if _, err := parse("a", block); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", block, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := parse(file, ""); err == nil || !strings.Contains(err.Error(), "record: "+file+" is not a directory, at Testfile:1") {
		t.Errorf("got error %v for a file in place of a directory", err)
	}
	if runtime.GOOS == "linux" { // where root may write to /proc, and nobody can make a file in it
		if _, err := parse("/proc/nope", ""); err == nil || !strings.Contains(err.Error(), "record: /proc is not writable: ") || !strings.HasSuffix(err.Error(), ", at Testfile:1") {
			t.Errorf("got error %v for a directory in /proc", err)
		}
	}
}
