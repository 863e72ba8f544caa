// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package performance tests the example as it stands in its folder.
package performance

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProfile holds that the profile answers, and that the balancer spreads
// requests over it.
func TestProfile(t *testing.T) {
	profile, balancer := read(t, "Caddyfile"), read(t, "balancer.Caddyfile")
	for _, text := range []string{profile, balancer} {
		if formatted := caddyfile.Format([]byte(text)); string(formatted) != text {
			t.Errorf("it is not formatted; it should be\n%s", formatted)
		}
	}
	simulator, front := caddytest.Addr(t), caddytest.Addr(t)
	_, site, _ := strings.Cut(balancer, "\n\n")
	config := strings.NewReplacer(":8080 {", simulator+" {", ":8000 {", front+" {",
		"10.0.0.1:8080 10.0.0.2:8080 10.0.0.3:8080", simulator).Replace(profile + "\n" + site)
	caddytest.Run(t, config)
	for _, addr := range []string{simulator, front} {
		resp, err := http.Get("http://" + addr + "/any")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(string(body), `{"hello": "world"`) {
			t.Errorf("%s: got %d %s, %v", addr, resp.StatusCode, body, err)
		}
	}
}

// TestMeasuring holds that the script is in order; it is run by hand.
func TestMeasuring(t *testing.T) {
	if out, err := exec.Command("bash", "-n", "measure.sh").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
