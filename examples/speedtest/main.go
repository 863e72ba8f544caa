// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command speedtest compares the ways to three small servers: directly, through
// nginx, haproxy and Caddy, and through Caddys that find the servers by DNS and by
// a key-value store. It also adds a server and takes one away under load, in each
// way. Arguments go to caddy replay:
//
//	go run ./examples/speedtest -n 200 -c 20
//
// It needs nginx, haproxy, dnsmasq and etcd, and Caddy with Rehearsal in it: the
// one that the variable CADDY names, or what it builds of this checkout.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "speedtest:", err)
		stop()
		os.Exit(1)
	}
}

// run starts everything, measures, prints the table and stops everything.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"--duration", "5s", "-c", "20"}
	}
	dir, err := os.MkdirTemp("", "speedtest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	l := &lab{ctx: ctx, dir: dir, caddy: os.Getenv("CADDY"), running: make(map[string]*process)}
	defer l.stopAll()
	defer cancel() // the watcher ends before etcd
	if err := l.find("nginx", "haproxy", "dnsmasq", "etcd"); err != nil {
		return err
	}
	if l.caddy == "" {
		l.caddy = filepath.Join(dir, "caddy")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", l.caddy, "github.com/caddy-rehearsal/rehearsal/cmd/caddy").CombinedOutput(); err != nil {
			return fmt.Errorf("building Caddy (the variable CADDY may name one that is built): %v\n%s", err, out)
		}
	}
	for _, number := range []string{"1", "2", "3"} {
		if err := l.startServer(number); err != nil {
			return err
		}
	}
	for _, w := range ways {
		if w.start == nil {
			continue
		}
		if err := errors.Join(w.register(l, serverAddrs("1", "2", "3")), w.start(l)); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	columns, err := l.measure(args)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(table(columns))
	return err
}
