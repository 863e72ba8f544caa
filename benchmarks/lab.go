// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// lab is where comparisons run: a folder for their files, the built Caddy, and
// the servers that are up.
type lab struct {
	rounds int
	turn   time.Duration
	short  bool
	shared bool // servers and load generators have the same processors
	out    io.Writer

	dir     string
	caddy   string
	servers []*server
}

// open makes the folder and builds Caddy from this checkout.
func (l *lab) open() (err error) {
	if l.dir, err = os.MkdirTemp("", "benchmarks"); err != nil {
		return err
	}
	l.caddy = filepath.Join(l.dir, "caddy")
	build := exec.Command("go", "build", "-o", l.caddy, "./cmd/caddy")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building Caddy, from the top folder of the checkout: %v\n%s", err, out)
	}
	return nil
}

func (l *lab) close() {
	l.stopServers()
	os.RemoveAll(l.dir)
}

// file writes a file into the lab and returns its path.
func (l *lab) file(name, content string) (string, error) {
	path := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(content), 0o644)
}

// freeAddr returns a loopback address whose port was free a moment ago.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

// machine returns in a line what the figures were measured on.
func machine() string {
	model := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d cores of %s, %s %s, %s", runtime.NumCPU(), model, runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.Version())
}
