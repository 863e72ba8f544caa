// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// linger is how long an idle connection of an old configuration may wait for
// one more request, whose response then announces the end. To close it at
// once would now and then hit a client that is just sending.
const linger = 5 * time.Second

// listenersClose is how long the servers of an old configuration may take to
// close their sockets, for which nobody waits. A client that is told to come
// back before that may come to one of them, and be turned away.
const listenersClose = 500 * time.Millisecond

// Close ends the pool's connections, for a handler's Cleanup. Each ends with
// its next response, an idle one after a few seconds, and what is left when the
// server's grace period is over is cut. When Caddy exits, idle connections and
// sleeping requests end at once, and Close waits for the other responses.
// A nil pool has nothing to close.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.end()
	if caddy.Exiting() {
		<-p.empty
	}
}

// end begins the end. Servers call it when they begin to shut down, which may
// be long before the handler's Cleanup.
func (p *Pool) end() {
	grace, wait := p.gracePeriod(), listenersClose
	if grace > 0 {
		wait = min(wait, grace/2)
	}
	if caddy.Exiting() {
		wait = 0
	}
	if wait == 0 {
		p.drain(grace)
	} else {
		time.AfterFunc(wait, func() { p.drain(grace - wait) })
	}
}

// drain makes responses announce the end of their connection.
func (p *Pool) drain(grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining.Swap(true) {
		return
	}
	if len(p.conns) == 0 {
		close(p.empty)
		return
	}
	go p.finish(grace)
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
func (p *Pool) cut() {
	close(p.over)
	p.each(func(c *conn) { c.net.Close() })
}

// wake ends the sleep of requests, so that they see that Caddy exits.
func (p *Pool) wake() {
	p.each(func(c *conn) {
		if c.state.CompareAndSwap(sleeping, busy) {
			_ = c.net.SetReadDeadline(time.Unix(1, 0))
		}
	})
}

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

// gracePeriod returns how long the servers of the pool's configuration wait for
// requests when they end.
func (p *Pool) gracePeriod() time.Duration {
	app, err := p.ctx.AppIfConfigured("http")
	if err != nil {
		return 0
	}
	return time.Duration(app.(*caddyhttp.App).GracePeriod)
}
