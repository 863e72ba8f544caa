// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// limits are those of the Caddy server that accepted a connection; a zero
// duration is no limit.
type limits struct {
	head      int           // bytes of a request's head
	idle      time.Duration // from an answer to the next request
	readHead  time.Duration // from a head's first bytes to its last
	read      time.Duration // from a head's first bytes to the body's last
	readIdle  time.Duration // between two reads of a body
	write     time.Duration // of a whole answer
	writeIdle time.Duration // between two writes of it
}

// headSlop is what net/http reads beyond MaxHeaderBytes before it refuses.
const headSlop = 4096

func limitsOf(server *caddyhttp.Server) limits {
	return limits{
		head:      server.MaxHeaderBytes + headSlop,
		idle:      time.Duration(server.IdleTimeout),
		readHead:  time.Duration(server.ReadHeaderTimeout),
		read:      time.Duration(server.ReadTimeout),
		readIdle:  time.Duration(server.ReadIdleTimeout),
		write:     time.Duration(server.WriteTimeout),
		writeIdle: time.Duration(server.WriteIdleTimeout),
	}
}

// wholeHead is how long a head may take to arrive.
func (l *limits) wholeHead() time.Duration {
	if l.readHead > 0 && (l.read <= 0 || l.readHead < l.read) {
		return l.readHead
	}
	return l.read
}
