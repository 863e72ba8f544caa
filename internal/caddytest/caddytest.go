// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package caddytest runs a real Caddy inside a test: real configuration, real
// sockets on loopback. Caddy is one per process, so tests that use it do not
// run in parallel with one another.
package caddytest

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard" // what a user's Caddy has

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// Server is the Caddy of this process, stopped when its test ends.
type Server struct {
	t       testing.TB
	logFile string
	storage string // of certificates
}

// Addr returns a loopback address with a port that nobody has.
func Addr(t testing.TB) string {
	t.Helper()
	return peertest.Addr(t)
}

// Run starts Caddy with a Caddyfile. The admin endpoint is off unless the
// Caddyfile has it, and logs are kept for Logs.
func Run(t testing.TB, caddyfile string) *Server {
	t.Helper()
	storage, err := os.MkdirTemp("", "caddytest")
	if err != nil {
		t.Fatalf("making a folder for certificates: %v", err)
	}
	s := &Server{t: t, logFile: filepath.Join(t.TempDir(), "caddy.log"), storage: storage}
	t.Cleanup(func() {
		_ = os.RemoveAll(storage) // certificates that come late may be written meanwhile
	})
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Errorf("stopping Caddy: %v", err)
		}
	})
	s.Reload(caddyfile)
	return s
}

// Reload loads another Caddyfile and fails the test if that fails.
func (s *Server) Reload(caddyfile string) {
	s.t.Helper()
	if err := s.TryReload(caddyfile); err != nil {
		s.t.Fatalf("loading Caddyfile: %v", err)
	}
}

// TryReload loads another Caddyfile and returns the error of that.
func (s *Server) TryReload(caddyfile string) error {
	config, err := Adapt(caddyfile)
	if err != nil {
		return err
	}
	return s.LoadJSON(config)
}

// LoadJSON loads a configuration in Caddy's own JSON.
func (s *Server) LoadJSON(config []byte) error {
	prepared, err := s.prepare(config)
	if err != nil {
		return err
	}
	return caddy.Load(prepared, true)
}

// Logs returns all that Caddy has logged, one JSON object a line.
func (s *Server) Logs() string {
	s.t.Helper()
	logs, err := os.ReadFile(s.logFile)
	if err != nil {
		s.t.Fatalf("reading Caddy's log: %v", err)
	}
	return string(logs)
}

// AwaitTLS waits until the server at addr has its certificate, which Caddy
// makes behind the scenes, and fails the test if it never does.
func AwaitTLS(t testing.TB, addr string) {
	t.Helper()
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := tls.Dial("tcp", addr, insecure)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no TLS at %s: %v", addr, err)
		}
	}
}

// prepare sends logs to the file and keeps the test off well-known places: no
// admin endpoint unless asked for, nothing saved in the home folder.
func (s *Server) prepare(config []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(config, &root); err != nil {
		return nil, err
	}
	admin := object(root, "admin")
	if _, ok := admin["listen"]; !ok {
		admin["disabled"] = true
	}
	object(admin, "config")["persist"] = false
	if root["storage"] == nil {
		root["storage"] = map[string]any{"module": "file_system", "root": s.storage}
	}
	log := object(object(object(root, "logging"), "logs"), "default")
	log["writer"] = map[string]any{"output": "file", "filename": s.logFile, "roll": false}
	log["encoder"] = map[string]any{"format": "json"}
	return json.Marshal(root)
}

func object(parent map[string]any, key string) map[string]any {
	child, ok := parent[key].(map[string]any)
	if !ok {
		child = make(map[string]any)
		parent[key] = child
	}
	return child
}

// Adapt returns a Caddyfile as Caddy's JSON.
func Adapt(caddyfile string) ([]byte, error) {
	adapter := caddyconfig.GetAdapter("caddyfile")
	config, _, err := adapter.Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	return config, err
}

// Validate provisions a Caddyfile's configuration without starting it, as
// `caddy validate` does.
func Validate(caddyfile string) error {
	config, err := Adapt(caddyfile)
	if err != nil {
		return err
	}
	var parsed caddy.Config
	if err := json.Unmarshal(config, &parsed); err != nil {
		return fmt.Errorf("decoding config: %v", err)
	}
	return caddy.Validate(&parsed)
}

// AsCaddy in the environment of a test's binary makes it the caddy command, if
// its TestMain calls BecomeCaddy.
const AsCaddy = "REHEARSAL_AS_CADDY=1"

// BecomeCaddy runs the caddy command in place of the tests if the environment
// says so, and does not return then.
func BecomeCaddy() {
	if os.Getenv("REHEARSAL_AS_CADDY") != "" {
		caddycmd.Main()
		os.Exit(0)
	}
}

// Command returns the test's binary as a Caddy: a process of its own, to be ended
// in whatever way, at the latest with the test.
func Command(t testing.TB, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...) //nolint:gosec // the test itself
	cmd.Env = append(os.Environ(), AsCaddy)
	return cmd
}
