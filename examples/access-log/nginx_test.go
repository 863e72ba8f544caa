// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package accesslog

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// nginx's own combined log is replayed as the example replays Caddy's.
func TestLogOfNginx(t *testing.T) {
	dir := t.TempDir()
	log, recordings := filepath.Join(dir, "access.log"), filepath.Join(dir, "recordings")
	service, next := caddytest.Addr(t), caddytest.Addr(t)
	var temporary strings.Builder // where any user may write
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary.WriteString(kind + "_temp_path " + filepath.Join(dir, kind) + ";\n")
	}
	config := "events {}\nhttp {\n" + temporary.String() + "access_log " + log + " combined;\nserver {\nlisten " + service + ";\nreturn 200 \"the service\";\n}\n}\n"
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	nginx := exec.Command("nginx", "-p", dir, "-c", file, "-e", "stderr", "-g", "daemon off; master_process off; error_log stderr; pid "+filepath.Join(dir, "pid")+";")
	nginx.Stderr = &output
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = nginx.Process.Kill()
		_ = nginx.Wait() // says that it was killed
		if t.Failed() {
			t.Logf("nginx: %s", output.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", service)
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nginx does not start")
		}
	}
	_, nextPort, _ := strings.Cut(next, ":")
	caddytest.Run(t, "http://:"+nextPort+" {\n\tbind 127.0.0.1\n\tblackhole {\n\t\trecord "+recordings+"\n\t}\n}\n")
	ask(t, service)
	check(t, replayed(t, log, next, recordings), "Host: "+next, `User-Agent: a "browser" \ä`, "Referer: https://shop.test/")
}
