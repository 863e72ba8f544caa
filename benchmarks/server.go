// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a process under load.
type server struct {
	name string
	addr string
	cmd  *exec.Cmd
	logs bytes.Buffer
	gone chan struct{} // closed when the process has ended
}

// start runs a server and waits until it accepts connections at addr.
func (l *lab) start(name, addr string, command ...string) (*server, error) {
	s := &server{name: name, addr: addr, cmd: exec.Command(command[0], command[1:]...), gone: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.logs, &s.logs
	s.cmd.Dir = l.dir
	s.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(l.dir, "config"), "XDG_DATA_HOME="+filepath.Join(l.dir, "data"))
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.gone)
	}()
	l.servers = append(l.servers, s)
	if !s.listens() {
		s.stop()
		return nil, fmt.Errorf("%s does not listen at %s:\n%s", name, addr, s.logs.String())
	}
	return s, nil
}

// listens waits until the server accepts connections, or has ended.
func (s *server) listens() bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			conn.Close()
			return true
		}
		select {
		case <-s.gone:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// stop ends the server, by force if it takes long.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.gone:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.gone
	}
}

// startCaddy runs the built Caddy with one site made of the given directives.
func (l *lab) startCaddy(name, directives string) (*server, error) {
	return l.startCaddyWith(name, "", directives)
}

// startCaddyWith runs the built Caddy with global options too.
func (l *lab) startCaddyWith(name, options, directives string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	config, err := l.file(name+"/Caddyfile", fmt.Sprintf("{\nadmin off\n%s\n}\nhttp://%s {\n%s\n}\n", options, addr, directives))
	if err != nil {
		return nil, err
	}
	return l.start(name, addr, l.caddy, "run", "--adapter", "caddyfile", "--config", config)
}

// startNginx runs nginx with two workers and the given directives in its one server.
func (l *lab) startNginx(name, directives string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	config, err := l.file(name+"/nginx.conf", fmt.Sprintf(`daemon off;
worker_processes 2;
worker_rlimit_nofile 40000;
pid %[1]s/nginx.pid;
error_log stderr warn;
events { worker_connections 16000; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	open_file_cache max=100;
	keepalive_requests 1000000000;
	keepalive_timeout 300;
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	server {
		listen %[2]s backlog=8192;
		%[3]s
	}
}
`, filepath.Join(l.dir, name), addr, directives))
	if err != nil {
		return nil, err
	}
	return l.start(name, addr, "nginx", "-c", config)
}

func (l *lab) stopServers() {
	for _, s := range l.servers {
		s.stop()
	}
	l.servers = nil
}

// url of a path at the server.
func (s *server) url(path string) string { return "http://" + s.addr + path }

// processes gives the server's process and its children: nginx works in those.
func (s *server) processes() []int {
	pids := []int{s.cmd.Process.Pid}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", pids[0]))
	for pid := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(pid); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// cpu is the processor time that the server has used, in user and kernel
// mode, from fields 14 and 15 of proc(5)'s stat, counted in 1/100 s.
func (s *server) cpu() time.Duration {
	var ticks int64
	for _, pid := range s.processes() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 12 {
			user, _ := strconv.ParseInt(fields[11], 10, 64)
			system, _ := strconv.ParseInt(fields[12], 10, 64)
			ticks += user + system
		}
	}
	return time.Duration(ticks) * (time.Second / 100)
}

// memory is what the server holds in RAM, in bytes.
func (s *server) memory() int64 {
	var kib int64
	for _, pid := range s.processes() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				n, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
				kib += n
			}
		}
	}
	return kib << 10
}
