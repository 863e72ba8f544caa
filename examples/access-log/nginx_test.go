// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package accesslog

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// nginx's own combined log is replayed as the example replays Caddy's.
func TestLogOfNginx(t *testing.T) {
	dir := t.TempDir()
	log, recordings := filepath.Join(dir, "access.log"), filepath.Join(dir, "recordings")
	service, next := caddytest.Addr(t), caddytest.Addr(t)
	peertest.Nginx(t, "events {}\nhttp {\naccess_log "+log+" combined;\nserver {\nlisten "+service+";\nreturn 200 \"the service\";\n}\n}\n", service)
	_, nextPort, _ := strings.Cut(next, ":")
	caddytest.Run(t, "http://:"+nextPort+" {\n\tbind 127.0.0.1\n\tblackhole {\n\t\trecord "+recordings+"\n\t}\n}\n")
	ask(t, service)
	check(t, replayed(t, log, next, recordings), "Host: "+next, `User-Agent: a "browser" \ä`, "Referer: https://shop.test/")
}
