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
	"sync"
	"syscall"
	"time"
)

// server is a process under load.
type server struct {
	name string
	addr string
	cmd  *exec.Cmd
	logs logs
	gone chan struct{} // closed when the process has ended
}

// logs are what a server prints.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start runs a server and waits until it accepts connections at addr.
func (l *lab) start(name, addr string, command ...string) (*server, error) {
	return l.startOn(serverHalf, name, addr, command...)
}

func (l *lab) startOn(h half, name, addr string, command ...string) (*server, error) {
	command = l.on(h, command...)
	s := &server{name: name, addr: addr, cmd: exec.Command(command[0], command[1:]...), gone: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.logs, &s.logs
	s.cmd.WaitDelay = time.Second // for workers that outlive it
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
		return nil, fmt.Errorf("%s has ended, or does not listen at %s within %s:\n%s", name, addr, startPatience, s.logs.String())
	}
	return s, nil
}

// startPatience is how long a server may take to listen: a Java machine that has
// half of a busy machine's processors takes its time.
const startPatience = 3 * time.Minute

// listens waits until the server accepts connections, or has ended.
func (s *server) listens() bool {
	for deadline := time.Now().Add(startPatience); time.Now().Before(deadline); {
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

// startCaddy runs the built Caddy with one site made of the given directives,
// and with variables of its environment.
func (l *lab) startCaddy(name, directives string, variables ...string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	config, err := l.file(name+"/Caddyfile", fmt.Sprintf("{\nadmin off\n}\nhttp://%s {\n%s\n}\n", addr, directives))
	if err != nil {
		return nil, err
	}
	command := append([]string{"env"}, variables...)
	return l.start(name, addr, append(command, l.caddy, "run", "--adapter", "caddyfile", "--config", config)...)
}

// startNginx runs nginx with the given directives in its one server.
func (l *lab) startNginx(name, directives string) (*server, error) {
	return l.startNginxOn(serverHalf, name, "", directives)
}

// startBackend runs nginx as something that a server under test talks to.
func (l *lab) startBackend(name, directives string) (*server, error) {
	return l.startNginxOn(clientHalf, name, "", directives)
}

// startNginxOn runs nginx with a worker for each processor of a half, and with
// a module, unless that is empty.
func (l *lab) startNginxOn(h half, name, module, directives string) (*server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	config, err := l.file(name+"/nginx.conf", fmt.Sprintf(`%[4]s
daemon off;
worker_processes %[5]d;
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
`, filepath.Join(l.dir, name), addr, directives, module, len(l.processors(h))))
	if err != nil {
		return nil, err
	}
	return l.startOn(h, name, addr, "nginx", "-c", config)
}

func (l *lab) stopServers() {
	for _, s := range l.servers {
		s.stop()
	}
	l.servers = nil
}

// url of a path at the server.
func (s *server) url(path string) string { return "http://" + s.addr + path }

// processes returns the server's process and its children: nginx works in those.
func (s *server) processes() []int { return family(s.cmd.Process.Pid) }

// cpu is the processor time that the server has used.
func (s *server) cpu() time.Duration { return cpuOf(s.processes()) }

// memory is what the server holds in RAM, in bytes.
func (s *server) memory() int64 { return memoryOf(s.processes()) }
