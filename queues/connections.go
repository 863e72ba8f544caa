// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// connections are the two to a broker: requests come over one, and answers go over the
// other, so that a bad reply-to costs no request.
type connections struct {
	logger   atomic.Pointer[zap.Logger]
	answers  *sender
	requests *sharedConn // nil: each address has a connection, as the protocol shares none
}

// connectionPool has the connections to brokers, which outlive a configuration as long
// as the next one has their broker too.
var connectionPool = caddy.NewUsagePool()

func newConnections(name string, protocol broker.Protocol, logger *zap.Logger) *connections {
	c := new(connections)
	c.logger.Store(logger)
	c.answers = newSender(name, protocol, &c.logger)
	if protocol.Shares() {
		c.requests = newSharedConn(name, protocol, &c.logger)
	}
	return c
}

// Destruct closes both. What is still to be sent is given up.
func (c *connections) Destruct() error {
	c.answers.end()
	if c.requests != nil {
		c.requests.cancel()
	}
	return nil
}

// sharedConn is the connection over which the requests of a broker come, to all its
// addresses.
//
// A bad address can cost the connection with all that is in hand on it. So addresses
// are attached one at a time: if the connection is lost meanwhile, that address gets
// into quarantine, with a connection of its own.
type sharedConn struct {
	logger    *atomic.Pointer[zap.Logger]
	cancel    context.CancelFunc
	attaching chan struct{} // has one while an address is attached

	mu      sync.Mutex // guards what follows
	conn    broker.Conn
	changed chan struct{} // closed when there is another connection, or none
}

func newSharedConn(name string, protocol broker.Protocol, logger *atomic.Pointer[zap.Logger]) *sharedConn {
	c := &sharedConn{logger: logger, attaching: make(chan struct{}, 1), changed: make(chan struct{})}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	go keepConnected(ctx, protocol, logger.Load, connection{name, "requests"}, func(conn broker.Conn) error {
		defer conn.Close()
		c.set(conn)
		defer c.set(nil)
		select {
		case <-conn.Done():
		case <-ctx.Done():
		}
		return conn.Err()
	})
	return c
}

func (c *sharedConn) set(conn broker.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns the connection as soon as there is one; nil if the context ends
// before.
func (c *sharedConn) await(ctx context.Context) broker.Conn {
	for {
		c.mu.Lock()
		conn, changed := c.conn, c.changed
		c.mu.Unlock()
		if conn != nil {
			return conn
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// errLostByAddress is the error of an address that has cost the connection.
var errLostByAddress = errors.New("the connection was lost while the address was attached")

// attach calls do to attach an address, one at a time. The error is errLostByAddress if
// the connection was lost meanwhile, or if the broker has said nothing: no other
// address is to wait for this one again.
func (c *sharedConn) attach(ctx context.Context, conn broker.Conn, do func(context.Context) error) error {
	select {
	case c.attaching <- struct{}{}:
	case <-conn.Done():
		return broker.ErrLost
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.attaching }()
	if isDone(conn) {
		return broker.ErrLost
	}
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err := do(limited)
	if err == nil {
		return nil
	}
	timer := time.NewTimer(lossDelay)
	defer timer.Stop()
	select {
	case <-conn.Done():
	case <-timer.C:
		if limited.Err() == nil {
			return err // it was refused, and nothing else
		}
	}
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errLostByAddress, err)
}
