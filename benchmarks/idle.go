// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// idleConnections measures what a connection costs that has had an answer and
// then waits.
func idleConnections(l *lab) error {
	count := 10_000
	if l.short {
		count = 500
	}
	nginx, err := l.startNginx("nginx", `location / { return 200 "x"; }`)
	if err != nil {
		return err
	}
	respond, err := l.startCaddy("respond", "respond x")
	if err != nil {
		return err
	}
	express, err := l.startCaddy("express", "simulator {\nexpress\nbody x\nstage 0 200\n}")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\n%d idle connections\n\n| server | memory before | with them | a connection |\n|---|--:|--:|--:|\n", count)
	for _, s := range []*server{nginx, respond, express} {
		if err := l.idle(s, count); err != nil {
			return fmt.Errorf("%s: %v", s.name, err)
		}
	}
	return nil
}

func (l *lab) idle(s *server, count int) error {
	before := s.memory()
	conns, letGo, err := hold(s, count)
	defer letGo()
	if err != nil {
		return err
	}
	time.Sleep(min(l.turn, 2*time.Second)) // for what is only short-lived
	with := s.memory()
	fmt.Fprintf(l.out, "| %s | %s | %s | %.1f KiB |\n", s.name, mebibytes(before), mebibytes(with), float64(with-before)/1024/float64(count))
	for _, c := range conns { // all must still be there
		if err := ask(c, s.addr); err != nil {
			return fmt.Errorf("after idling: %v", err)
		}
	}
	return nil
}

// hold opens connections, has one answer on each, and keeps them until letGo.
// It does so with a hundred at a time, since an answer may take its time.
func hold(s *server, count int) (conns []net.Conn, letGo func(), err error) {
	conns = make([]net.Conn, count)
	letGo = func() {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
	}
	var opening errgroup.Group
	opening.SetLimit(100)
	for i := range conns {
		opening.Go(func() error {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				return err
			}
			conns[i] = c
			return ask(c, s.addr)
		})
	}
	return conns, letGo, opening.Wait()
}

// ask makes a request on a connection and reads the answer.
func ask(c net.Conn, host string) error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.Close {
		return errors.New("the answer ends the connection")
	}
	return resp.Body.Close()
}
