// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
)

// way leads to the servers.
type way struct {
	name string
	addr string

	// start runs what is in between; nil if nothing is.
	start func(l *lab) error
	// register makes the servers those that the way knows of. It returns when what
	// knows them was told.
	register func(l *lab, servers []string) error
}

// ways are in the order of the table's columns. The server to which "direct"
// leads is never taken away.
var ways = []way{
	{name: "direct", addr: serverAddr("1")},
	{name: "nginx", addr: "127.0.0.1:9111", start: startNginx, register: registerNginx},
	{name: "haproxy", addr: "127.0.0.1:9112", start: startHaproxy, register: registerHaproxy},
	{name: "caddy", addr: "127.0.0.1:9113", start: startCaddy, register: registerCaddy},
	{name: "dns", addr: "127.0.0.1:9114", start: startDNS, register: registerDNS},
	{name: "kv", addr: "127.0.0.1:9115", start: startKV, register: registerKV},
}

func serverAddr(number string) string { return "127.0.0.1:912" + number }

func serverAddrs(numbers ...string) []string {
	addrs := make([]string, len(numbers))
	for i, number := range numbers {
		addrs[i] = serverAddr(number)
	}
	return addrs
}

func (l *lab) startServer(number string) error {
	config, err := l.config("server/Caddyfile")
	if err != nil {
		return err
	}
	return l.start("server-"+number, serverAddr(number), []string{"PORT=912" + number}, l.caddy, "run", "--config", config)
}

// nginx reads the servers from a file when it reloads.

func startNginx(l *lab) error {
	config, err := l.config("nginx.conf")
	if err != nil {
		return err
	}
	return l.start("nginx", "127.0.0.1:9111", nil, "nginx", "-p", l.dir, "-c", config, "-e", "stderr")
}

func registerNginx(l *lab, servers []string) error {
	if err := l.write("nginx-servers.conf", "server "+strings.Join(servers, ";\nserver ")+";\n"); err != nil {
		return err
	}
	return l.reload("nginx", syscall.SIGHUP)
}

// haproxy reads the servers from a file of its configuration when its master starts
// new workers.

func startHaproxy(l *lab) error {
	config, err := l.config("haproxy.cfg")
	if err != nil {
		return err
	}
	return l.start("haproxy", "127.0.0.1:9112", nil, "haproxy", "-W", "-db", "-f", config, "-f", l.file("haproxy-servers.cfg"))
}

func registerHaproxy(l *lab, servers []string) error {
	var backend strings.Builder
	backend.WriteString("backend servers\n")
	for i, server := range servers {
		fmt.Fprintf(&backend, "\tserver server%d %s\n", i+1, server)
	}
	if err := l.write("haproxy-servers.cfg", backend.String()); err != nil {
		return err
	}
	return l.reload("haproxy", syscall.SIGUSR2)
}

// caddy adapts its Caddyfile again, in which a variable names the servers.

func startCaddy(l *lab) error { return l.startCaddy("caddy", "Caddyfile", "127.0.0.1:9113") }

func registerCaddy(l *lab, servers []string) error {
	if !l.runs("caddy") {
		return nil // it starts with the first three
	}
	reload := exec.CommandContext(l.ctx, l.caddy, "reload", "--address", "127.0.0.1:9116", "--config", l.file("Caddyfile"))
	reload.Env = append(os.Environ(), "SERVERS="+strings.Join(servers, " "))
	if out, err := reload.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// dns is a Caddy that asks dnsmasq, which reads its records when it starts.

func startDNS(l *lab) error { return l.startCaddy("dns", "dns/Caddyfile", "127.0.0.1:9114") }

func registerDNS(l *lab, servers []string) error {
	var conf strings.Builder
	conf.WriteString("port=9153\nlisten-address=127.0.0.1\nbind-interfaces\nno-resolv\nno-hosts\npid-file=\nuser=" + userName() + "\nhost-record=server.speedtest.internal,127.0.0.1\n")
	for _, server := range servers {
		conf.WriteString("srv-host=_web._tcp.speedtest.internal,server.speedtest.internal," + strings.TrimPrefix(server, "127.0.0.1:") + "\n")
	}
	l.stop("dnsmasq")
	return errors.Join(l.write("dnsmasq.conf", conf.String()),
		l.start("dnsmasq", "127.0.0.1:9153", nil, "dnsmasq", "--keep-in-foreground", "--conf-file="+l.file("dnsmasq.conf")))
}

// reload has a program read its files again, if it runs.
func (l *lab) reload(name string, s os.Signal) error {
	if !l.runs(name) {
		return nil
	}
	return l.signal(name, s)
}

// runs reports whether a program was started.
func (l *lab) runs(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running[name] != nil
}

// startCaddy runs Caddy with one of the configurations.
func (l *lab) startCaddy(name, config, addr string) error {
	path, err := l.config(config)
	if err != nil {
		return err
	}
	return l.start(name, addr, nil, l.caddy, "run", "--config", path)
}

// userName returns the name of the user that runs this, as whom dnsmasq stays.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "nobody"
}
