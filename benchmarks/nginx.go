// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// simulatorBesideNginx measures bodies of several sizes: nginx with static
// files, the simulator on Caddy's path and with express.
func simulatorBesideNginx(l *lab) error {
	if err := os.Chmod(l.dir, 0o755); err != nil { //nolint:gosec // nginx, which may be another user, reads files there
		return err
	}
	sizes := []int{100, 50_000, 100_000, 428_000}
	if l.short {
		sizes = []int{100, 50_000}
	}
	var routes strings.Builder
	for _, size := range sizes {
		body := strings.Repeat("x", size)
		file, err := l.file(fmt.Sprintf("www/%d", size), body)
		if err != nil {
			return err
		}
		fmt.Fprintf(&routes, "route /%d {\nbody_file %s\nstage 0 200\n}\n", size, file)
	}
	nginx, err := l.startNginx("nginx", "root "+filepath.Join(l.dir, "www")+"; default_type text/html;")
	if err != nil {
		return err
	}
	normal, err := l.startCaddy("simulator", "simulator {\n"+routes.String()+"}")
	if err != nil {
		return err
	}
	express, err := l.startCaddy("express", "simulator {\nexpress\n"+routes.String()+"}")
	if err != nil {
		return err
	}
	load := wrk{connections: 50}
	for _, size := range sizes {
		path := fmt.Sprintf("/%d", size)
		err := l.compare(fmt.Sprintf("%d bytes, 50 connections", size),
			l.underWrk("nginx", load, nginx, path),
			l.underWrk("simulator", load, normal, path),
			l.underWrk("simulator, express", load, express, path))
		if err != nil {
			return err
		}
	}
	return nil
}
