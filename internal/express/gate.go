// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
)

// gates let one large body through each at a time on its way to a client on this
// machine. Over loopback the sender's processor does the receiver's part of the
// protocol too, and the client needs a processor to read: with more senders at
// once than half of the processors, each takes longer, and all together do less.
var (
	gates    = make([]sync.Mutex, max(1, runtime.GOMAXPROCS(0)/2))
	lastGate atomic.Uint32
)

// gateTo gives the gate for a connection to a client, nil for one elsewhere.
func gateTo(client net.Addr) *sync.Mutex {
	addr, ok := client.(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil
	}
	return &gates[lastGate.Add(1)%uint32(len(gates))]
}
