// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"net"
	"runtime"
	"sync"
)

// gate lets few large bodies at a time be handed to the kernel on their way to
// clients on this machine. Over loopback the sender's processor does the
// receiver's part of the protocol too, and the client needs a processor to read:
// with more senders at once than half of the processors, each takes longer, and
// all together do less.
type gate chan struct{}

var loopbackGate = sync.OnceValue(func() gate { return make(gate, max(1, runtime.GOMAXPROCS(0)/2)) })

// gateTo returns the gate on the way to a client, nil if there is none.
func gateTo(client net.Addr) gate {
	addr, ok := client.(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil
	}
	return loopbackGate()
}

// enter waits for a place in the gate, leave gives it up.
func (g gate) enter() {
	if g != nil {
		g <- struct{}{}
	}
}

func (g gate) leave() {
	if g != nil {
		<-g
	}
}
