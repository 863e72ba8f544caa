// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

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
