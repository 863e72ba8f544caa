// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddytest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRunServesLogsAndReloads(t *testing.T) {
	addr := Addr(t)
	s := Run(t, "http://"+addr+" {\n\tlog\n\trespond first\n}\n")
	for _, want := range []string{"first", "second"} {
		resp, err := http.Get("http://" + addr + "/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != want {
			t.Fatalf("got body %q, error %v; want %q", body, err, want)
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
