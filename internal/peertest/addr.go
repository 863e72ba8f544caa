// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"fmt"
	"net"
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
