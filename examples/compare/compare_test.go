// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package compare tests the example as it stands in its folder.
package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	if formatted := caddyfile.Format(text); string(formatted) != string(text) {
		t.Errorf("the Caddyfile is not formatted; it should be\n%s", formatted)
	}
	shop, production, candidate, twin := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, strings.NewReplacer(
		"http://:8080", "http://"+shop,
		"http://:9001", "http://"+production, "127.0.0.1:9001", production,
		"http://:9002", "http://"+candidate, "http://127.0.0.1:9002", "http://"+candidate,
		"http://:9003", "http://"+twin, "http://127.0.0.1:9003", "http://"+twin,
	).Replace(string(text)))
	for i := range 100 {
		if body := get(t, fmt.Sprintf("http://%s/items/%d?q=%d", shop, i, i)); !strings.Contains(body, `"price": 100`) {
			t.Fatalf("the client got %s", body)
		}
	}
	want := map[string]string{"$.price": "proved", "$.trace": "noise"}
	var got map[string]string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var found struct {
			Shadows []struct {
				Pairs  int
				Fields []struct{ Field, Class string }
			}
		}
		if err := json.Unmarshal([]byte(get(t, "http://"+shop+"/_tee/live.json")), &found); err != nil {
			t.Fatal(err)
		}
		if len(found.Shadows) == 0 || found.Shadows[0].Pairs < 100 {
			continue
		}
		got = make(map[string]string)
		for _, row := range found.Shadows[0].Fields {
			got[row.Field] = row.Class
		}
		break
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// TestRecordedExample records production, ends it, and compares the candidate
// with the recording, as README.md does.
func TestRecordedExample(t *testing.T) {
	shop, production, candidate, dir := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
	addresses := strings.NewReplacer(":8080", shop, "127.0.0.1:9001", production, ":9001", production, ":9002", candidate, "record recordings", "record "+dir)
	for i, file := range []string{"record.Caddyfile", "candidate.Caddyfile"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		caddytest.Run(t, addresses.Replace(string(text)))
		if i > 0 {
			break
		}
		for i := range 100 {
			if body := get(t, fmt.Sprintf("http://%s/items/%d?q=%d", shop, i, i)); !strings.Contains(body, `"price": 100`) {
				t.Fatalf("the client got %s", body)
			}
		}
		if err := caddy.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	for condition, status := range map[string]int{"pairs>=100": 0, "diffs=0": 4} {
		replay := caddytest.Command(t, "replay", "--max", "--to", "new="+candidate, "--compare", "--ignore-header", "X-Version", "--fail", condition, dir)
		out, err := replay.Output()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if got := replay.ProcessState.ExitCode(); got != status {
			t.Errorf("%s: exit status %d, want %d", condition, got, status)
		}
		for _, want := range []string{
			"old    the recorded responses\n",
			"new beside recorded: 1 difference, 0 unconfirmed, in 100 pairs of 100 requests\n",
			"  differs      changed  100% (96–100)     $.price\n    100 → 110\n",
		} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: no %q in\n%s", condition, want, out)
			}
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
