// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package express

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// TestExit has a Caddy of its own exit while connections do everything that
// they may be doing.
func TestExit(t *testing.T) {
	s := &sites{caddy: caddytest.Addr(t), express: caddytest.Addr(t), tls: caddytest.Addr(t), cert: certificate(t)}
	config := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(config, []byte(s.config("admin off\n\tpersist_config off", "1")), 0o600); err != nil {
		t.Fatal(err)
	}
	caddy := caddytest.Command(t, "run", "--config", config, "--adapter", "caddyfile")
	if err := caddy.Start(); err != nil {
		t.Fatal(err)
	}
	defer caddy.Process.Kill()

	idle, idleTLS, asleep, asleepTLS := s.taken(t), s.takenTLS(t), s.taken(t), s.takenTLS(t)
	reading, writing, writingTLS := s.taken(t), s.taken(t), s.takenTLS(t)
	for _, c := range []*client{asleep, asleepTLS} {
		c.send("POST /sleep?1h HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n")
	}
	for _, c := range []*client{writing, writingTLS} {
		c.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 6\r\n\r\nabc")
	}
	const size = 24 << 20 // more than the sockets hold
	reading.send("GET /bytes/25165824 HTTP/1.1\r\nHost: test\r\n\r\n")
	resp, err := http.ReadResponse(reading.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := caddy.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client{idle, idleTLS, asleep, asleepTLS} {
		c.ended()
	}
	for _, c := range []*client{writing, writingTLS} {
		c.send("def")
		if _, body := c.answer("POST"); body != `1 POST / test "abcdef"` {
			t.Errorf("a request whose body was on its way got %s", body)
		}
	}
	body, err := io.ReadAll(resp.Body)
	if string(body) != strings.Repeat("b", size) {
		t.Errorf("%d bytes of an answer in hand came, error %v", len(body), err)
	}
	if err := caddy.Wait(); err != nil {
		t.Errorf("Caddy's exit: %v", err)
	}
}
