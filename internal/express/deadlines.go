// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"net"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// deadlines remembers what is set on a connection. Setting one costs more than
// responding to a small request leaves to spend, so a deadline that is due at most
// a little later than it has to be is left as it is. It cannot be set only on a
// connection that is closed, which the next read or write returns.
type deadlines struct {
	readBy, writeBy time.Time
}

// slack returns how much later than asked for a timeout may strike: a sixty-fourth
// of it.
func slack(timeout time.Duration) time.Duration { return timeout / 64 }

// read sets the deadline of the next read: timeout from now, and whole from
// started at the latest. Zero or less is no limit.
func (d *deadlines) read(c net.Conn, timeout time.Duration, started time.Time, whole time.Duration) {
	by, late := due(time.Now(), timeout, started, whole)
	if !within(d.readBy, by, late) {
		d.readBy = by.Add(late)
		_ = c.SetReadDeadline(d.readBy)
	}
}

// write does so for the next write.
func (d *deadlines) write(c net.Conn, timeout time.Duration, started time.Time, whole time.Duration) {
	by, late := due(time.Now(), timeout, started, whole)
	if !within(d.writeBy, by, late) {
		d.writeBy = by.Add(late)
		_ = c.SetWriteDeadline(d.writeBy)
	}
}

// due returns the earlier of both deadlines, and how late it may strike.
func due(now time.Time, timeout time.Duration, started time.Time, whole time.Duration) (by time.Time, late time.Duration) {
	if timeout > 0 {
		by, late = now.Add(timeout), slack(timeout)
	}
	if hard := started.Add(whole); whole > 0 && (timeout <= 0 || hard.Before(by)) {
		return hard, 0
	}
	return by, late
}

// within reports whether a deadline is as good as one at by.
func within(deadline, by time.Time, late time.Duration) bool {
	return !deadline.Before(by) && !deadline.After(by.Add(late)) && deadline.IsZero() == by.IsZero()
}

// readAt sets the deadline of the next read to a time.
func (d *deadlines) readAt(c net.Conn, by time.Time) {
	d.readBy = by
	_ = c.SetReadDeadline(by)
}

// forgetRead makes sure that the next deadline is set.
func (d *deadlines) forgetRead() { d.readBy = time.Unix(1, 0) }

// limits are those of the Caddy server that accepted a connection; a zero
// duration is no limit.
type limits struct {
	head      int           // bytes of a request's head
	idle      time.Duration // from a response to the next request
	readHead  time.Duration // from a head's first bytes to its last
	read      time.Duration // from a head's first bytes to the body's last
	readIdle  time.Duration // between two reads of a body
	write     time.Duration // of a whole response
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

// wholeHead returns how long a head may take to arrive.
func (l *limits) wholeHead() time.Duration {
	if l.readHead > 0 && (l.read <= 0 || l.readHead < l.read) {
		return l.readHead
	}
	return l.read
}
