// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// static100 is a file of 100 bytes from nginx, the primary and shadow of those
// who need one that costs little.
const static100 = `location / { return 200 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; }`

// teeBesideProxy measures what copying costs the process that does it: a
// proxy alone, with a tee that takes nothing, and with ones that copy or record
// all, or both.
func teeBesideProxy(l *lab) error {
	primary, err := l.startBackend("primary", static100)
	if err != nil {
		return err
	}
	shadow, err := l.startBackend("shadow", static100)
	if err != nil {
		return err
	}
	proxy := "reverse_proxy " + primary.addr
	record := fmt.Sprintf("record %s {\nrotate_size 64MiB\nkeep 256MiB\n}", filepath.Join(l.dir, "conversations"))
	var contenders []contender
	for _, c := range []struct{ name, directives string }{
		{"reverse_proxy alone", proxy},
		{"with tee, percent 0", fmt.Sprintf("tee %s {\npercent 0\n}\n%s", shadow.url(""), proxy)},
		{"with tee, one shadow", fmt.Sprintf("tee %s\n%s", shadow.url(""), proxy)},
		{"with tee that records", fmt.Sprintf("tee {\n%s\n}\n%s", record, proxy)},
		{"with tee, one shadow, that records", fmt.Sprintf("tee %s {\n%s\n}\n%s", shadow.url(""), record, proxy)},
	} {
		s, err := l.startCaddy(c.name, c.directives)
		if err != nil {
			return err
		}
		contenders = append(contenders, l.underWrk(c.name, wrk{connections: 50}, s, "/"))
	}
	return l.compare("GET of 100 B, 50 connections, primary and shadow are nginx", contenders...)
}

// teeWithBadShadows measures whether clients feel what shadows do.
func teeWithBadShadows(l *lab) error {
	primary, err := l.startBackend("primary", static100)
	if err != nil {
		return err
	}
	healthy, err := l.startBackend("shadow", static100)
	if err != nil {
		return err
	}
	dead, err := freeAddr()
	if err != nil {
		return err
	}
	hanging, err := listen(neverAnswer)
	if err != nil {
		return err
	}
	slow, err := listen(answerSlowly)
	if err != nil {
		return err
	}
	var contenders []contender
	for _, c := range []struct{ name, shadow string }{
		{"shadow healthy", healthy.addr}, {"shadow dead", dead}, {"shadow hangs", hanging}, {"shadow takes 500 ms", slow},
	} {
		s, err := l.startCaddy(c.name, fmt.Sprintf("tee http://%s\nreverse_proxy %s", c.shadow, primary.addr))
		if err != nil {
			return err
		}
		contenders = append(contenders, l.underWrk(c.name, wrk{connections: 50}, s, "/"))
	}
	return l.compare("GET of 100 B, 50 connections: the client's view while the shadow misbehaves", contenders...)
}

// listen listens on a free port of the loopback interface, has serve take every
// connection for as long as the program runs, and returns the address.
func listen(serve func(net.Conn)) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return ln.Addr().String(), nil
}

func neverAnswer(conn net.Conn) {
	defer conn.Close()
	_, _ = io.Copy(io.Discard, conn)
}

func answerSlowly(conn net.Conn) {
	defer conn.Close()
	requests := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(requests); err != nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
		if _, err := fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
			return
		}
	}
}
