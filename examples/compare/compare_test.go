// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package compare tests the example as it stands in its folder.
package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

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
