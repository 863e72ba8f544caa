// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// reloadsUnderLoad holds 50 connections of wrk busy on the express path while
// the configuration changes again and again.
func reloadsUnderLoad(l *lab) error {
	length, reloads := time.Minute, 20
	if l.short {
		length, reloads = 4*time.Second, 3
	}
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	admin, err := freeAddr()
	if err != nil {
		return err
	}
	config := func(generation int) (string, error) {
		return l.file("reloads/Caddyfile", fmt.Sprintf(
			"{\nadmin %s\npersist_config off\n}\nhttp://%s {\nsimulator {\nexpress\nbody %d\nstage 0 200\n}\n}\n", admin, addr, generation))
	}
	file, err := config(0)
	if err != nil {
		return err
	}
	s, err := l.start("reloads", addr, l.caddy, "run", "--adapter", "caddyfile", "--config", file)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		ticker := time.NewTicker(length / time.Duration(reloads+1))
		defer ticker.Stop()
		for i := range reloads {
			<-ticker.C
			if _, err := config(i + 1); err != nil {
				done <- err
				return
			}
			reload := exec.Command(l.caddy, "reload", "--adapter", "caddyfile", "--config", file, "--address", admin) //nolint:gosec // our own build
			if out, err := reload.CombinedOutput(); err != nil {
				done <- fmt.Errorf("reloading: %v\n%s", err, out)
				return
			}
		}
		done <- nil
	}()
	t, err := wrk{connections: 50}.run(l, s, s.url("/"), length)
	if err := errors.Join(err, <-done); err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\n| reloads | requests | requests/s | p99 | errors |\n|--:|--:|--:|--:|--:|\n| %d | %d | %.0f | %s | %d |\n",
		reloads, t.requests, t.rate, short(t.p99), t.errors)
	return nil
}
