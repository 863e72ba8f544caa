// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
)

// Ports of tests lie below those that systems give to clients, and come in
// blocks. A test process has a block for itself as long as it listens on its
// first port, and uses none of the others twice: Caddys that listen on the same
// one share it without an error.
const (
	lowestPort = 10_000
	portBlock  = 100
	portBlocks = 200
)

var ports struct {
	mu     sync.Mutex
	blocks []net.Listener // of this process
	next   int            // of the last block
}

// Addr returns a loopback address with a port that nobody has.
func Addr(t testing.TB) string {
	t.Helper()
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for {
		if ports.next%portBlock == 0 && !takeBlock() {
			t.Fatal("there is no free port")
		}
		addr := fmt.Sprintf("127.0.0.1:%d", ports.next)
		ports.next++
		if ln, err := net.Listen("tcp", addr); err == nil {
			ln.Close()
			return addr
		}
	}
}

// takeBlock takes a block of ports that no process has, and reports whether there
// was one.
func takeBlock() bool {
	for i := range portBlocks {
		first := lowestPort + (os.Getpid()+i)%portBlocks*portBlock
		if ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first)); err == nil {
			ports.blocks = append(ports.blocks, ln) // to its end
			ports.next = first + 1
			return true
		}
	}
	return false
}

// Serve serves each connection to a bare listener with a function, and returns
// the listener's address. A connection is closed when the function returns, at
// the latest with the test.
func Serve(t testing.TB, serve func(*net.TCPConn)) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ServeOn(t, ln, serve)
	return ln.Addr().String()
}

// ServeOn is Serve for a listener of the test, which is closed with it.
func ServeOn(t testing.TB, ln net.Listener, serve func(*net.TCPConn)) {
	var mu sync.Mutex
	open := make(map[net.Conn]bool)
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		defer mu.Unlock()
		for conn := range open {
			conn.Close()
		}
	})
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			go func() {
				serve(conn.(*net.TCPConn))
				conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			}()
		}
	}()
}

// ReadRequest reads one request to its end, and reports whether there was one.
func ReadRequest(r *bufio.Reader) bool {
	request, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

// Responding returns what responds to every request on a connection with the same
// bytes.
func Responding(response string) func(*net.TCPConn) {
	return func(conn *net.TCPConn) {
		for r := bufio.NewReader(conn); ReadRequest(r); {
			if _, err := io.WriteString(conn, response); err != nil {
				return
			}
		}
	}
}
