// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

//go:embed Caddyfile dns/Caddyfile kv/Caddyfile server/Caddyfile nginx.conf haproxy.cfg
var configs embed.FS

// lab is where the speed test runs: a folder for files, and processes.
type lab struct {
	ctx   context.Context
	dir   string
	caddy string

	mu      sync.Mutex
	running map[string]*process
	order   []string // of their start
}

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	logs *os.File
	gone chan struct{} // closed when it has ended
}

// find returns an error that names the programs that are missing.
func (l *lab) find(names ...string) error {
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	var errs []error
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			errs = append(errs, fmt.Errorf("%s is missing (on Debian: apt install nginx haproxy dnsmasq-base etcd-server)", name))
		}
	}
	return errors.Join(errs...)
}

// file returns the path of a file in the folder.
func (l *lab) file(name string) string { return filepath.Join(l.dir, name) }

// write writes a file into the folder.
func (l *lab) write(name, content string) error {
	return os.WriteFile(l.file(name), []byte(content), 0o644)
}

// config puts one of the configurations into the folder, and returns its path.
func (l *lab) config(name string) (string, error) {
	content, err := fs.ReadFile(configs, name)
	if err != nil {
		return "", err
	}
	path := l.file(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o644)
}

// start runs a program until it listens at addr, which another may not do yet.
// What it prints goes to the file of its name.
func (l *lab) start(name, addr string, env []string, command ...string) error {
	if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		conn.Close()
		return fmt.Errorf("%s: something else listens at %s", name, addr)
	}
	logs, err := os.Create(l.file(name + ".log"))
	if err != nil {
		return err
	}
	p := &process{cmd: exec.Command(command[0], command[1:]...), logs: logs, gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = logs, logs, l.dir
	p.cmd.Env = append(append(os.Environ(), "XDG_DATA_HOME="+l.dir, "XDG_CONFIG_HOME="+l.dir), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours, and we stop it
	if err := p.cmd.Start(); err != nil {
		logs.Close()
		return err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.gone)
	}()
	l.mu.Lock()
	l.running[name] = p
	l.order = append(l.order, name)
	l.mu.Unlock()
	for deadline := time.Now().Add(time.Minute); ; {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			conn.Close()
			return nil
		}
		select {
		case <-l.ctx.Done():
			return l.ctx.Err()
		case <-p.gone:
		case <-time.After(10 * time.Millisecond):
			if time.Now().Before(deadline) {
				continue
			}
		}
		said, _ := os.ReadFile(logs.Name())
		return fmt.Errorf("%s does not listen at %s:\n%s", name, addr, bytes.TrimSpace(said))
	}
}

// signal sends one to a running program.
func (l *lab) signal(name string, s os.Signal) error {
	l.mu.Lock()
	p := l.running[name]
	l.mu.Unlock()
	return p.cmd.Process.Signal(s)
}

// stop ends a program, by force if that takes over 5 s.
func (l *lab) stop(name string) {
	l.mu.Lock()
	p := l.running[name]
	delete(l.running, name)
	l.mu.Unlock()
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.gone:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.gone
	}
	p.logs.Close()
}

// stopAll ends all programs, the last one first.
func (l *lab) stopAll() {
	for _, name := range slices.Backward(l.order) {
		l.stop(name)
	}
}
