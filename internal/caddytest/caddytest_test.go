// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddytest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// get returns the body of a response, or the error that there was instead.
func get(addr string) string {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + addr + "/")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func TestRunServesLogsAndReloads(t *testing.T) {
	addr := Addr(t)
	s := Run(t, "http://"+addr+" {\n\tlog\n\trespond first\n}\n")
	for _, want := range []string{"first", "second"} {
		// A listener of the configuration before may be open for a moment more.
		got := ""
		for end := time.Now().Add(30 * time.Second); got != want && time.Now().Before(end); {
			got = get(addr)
		}
		if got != want {
			t.Fatalf("got body %q, want %q", got, want)
		}
		s.Reload("http://" + addr + " {\n\trespond second\n}\n")
	}
	if !strings.Contains(s.Logs(), `"msg":"handled request"`) {
		t.Error("the access log has no entry of the request")
	}
	if err := s.TryReload("http://" + addr + " {\n\tno_such_directive\n}\n"); err == nil {
		t.Error("an unknown directive was accepted")
	}
}
