// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// linger is how long an idle connection of an old configuration may wait for
// one more request, whose answer then says that it is the last. To close it at
// once would now and then hit a client that is just sending.
const linger = 5 * time.Second

// listenersClose is until when the servers of an old configuration have closed
// their listeners, which Caddy does not wait for. A client that is told to come
// back before that may come to one of them, and be turned away.
const listenersClose = time.Second

// Close ends the pool's connections, for a handler's Cleanup. Each ends with
// its next answer, an idle one after a few seconds, and what is left when the
// server's grace period is over is cut. When Caddy exits, idle connections and
// sleeping requests end at once, and Close waits for the other answers.
// A nil pool has nothing to close.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	if caddy.Exiting() {
		p.drain()
		<-p.empty
		return
	}
	wait := listenersClose
	if grace := p.gracePeriod(); grace > 0 {
		wait = min(wait, grace)
	}
	time.AfterFunc(wait, p.drain)
}

// drain begins the end. A server calls it as soon as its listeners are closed;
// Close sees to those that were shutting down when they gave us a connection.
func (p *Pool) drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining.Swap(true) {
		return
	}
	if len(p.conns) == 0 {
		close(p.empty)
		return
	}
	go p.finish(p.gracePeriod())
}

// finish sees to it that every connection ends.
func (p *Pool) finish(grace time.Duration) {
	var cut <-chan time.Time // never, as Caddy's own grace period by default
	wait := linger
	if grace > 0 {
		cut = time.After(grace)
		wait = min(wait, grace)
	}
	if caddy.Exiting() {
		wait = 0
		close(p.exit)
		p.wake()
	}
	select {
	case <-p.empty:
		return
	case <-time.After(wait):
	}
	p.sweep()
	select {
	case <-p.empty:
	case <-cut:
		p.cut()
	}
}

// sweep closes the idle connections; from now on none becomes idle.
func (p *Pool) sweep() {
	p.swept.Store(true)
	p.each(func(c *conn) {
		if c.state.CompareAndSwap(idle, closed) {
			c.net.Close()
		}
	})
}

// cut closes whatever is left.
func (p *Pool) cut() { p.each(func(c *conn) { c.net.Close() }) }

// wake ends what requests are waiting for, so that they see that Caddy exits.
func (p *Pool) wake() { p.each(func(c *conn) { _ = c.net.SetReadDeadline(time.Unix(1, 0)) }) }

func (p *Pool) each(do func(*conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		do(c)
	}
}

// exiting reports whether sleeping requests are to end.
func (p *Pool) exiting() bool {
	select {
	case <-p.exit:
		return true
	default:
		return false
	}
}

// gracePeriod is the one of the servers of the pool's configuration.
func (p *Pool) gracePeriod() time.Duration {
	app, err := p.ctx.AppIfConfigured("http")
	if err != nil {
		return 0
	}
	return time.Duration(app.(*caddyhttp.App).GracePeriod)
}
