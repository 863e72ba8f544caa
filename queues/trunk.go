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

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// trunk is the connection over which the requests of a broker come, to all its
// addresses.
//
// An address that nobody may have can cost the connection with all that is in hand on
// it. So addresses are attached one at a time: if the connection is lost meanwhile, it
// is that address which is suspected, and gets a connection of its own.
type trunk struct {
	logger *atomic.Pointer[zap.Logger]
	cancel context.CancelFunc
	turn   chan struct{} // to attach

	mu      sync.Mutex // guards what follows
	conn    broker.Conn
	changed chan struct{} // closed when there is another connection, or none
}

func newTrunk(name string, protocol broker.Protocol, logger *atomic.Pointer[zap.Logger]) *trunk {
	t := &trunk{logger: logger, turn: make(chan struct{}, 1), changed: make(chan struct{})}
	var ctx context.Context
	ctx, t.cancel = context.WithCancel(context.Background())
	go keepConnected(ctx, protocol, logger.Load, connection{name, "requests"}, func(conn broker.Conn) error {
		defer conn.Close()
		t.set(conn)
		defer t.set(nil)
		select {
		case <-conn.Done():
		case <-ctx.Done():
		}
		return conn.Err()
	})
	return t
}

func (t *trunk) set(conn broker.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conn = conn
	close(t.changed)
	t.changed = make(chan struct{})
}

// await returns the connection as soon as there is one; nil if the context ends
// before.
func (t *trunk) await(ctx context.Context) broker.Conn {
	for {
		t.mu.Lock()
		conn, changed := t.conn, t.changed
		t.mu.Unlock()
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

// errSuspected is the error of an address that has cost the connection.
var errSuspected = errors.New("the connection was lost while the address was attached")

// attach has an address attached in its turn. The error is errSuspected if the
// connection was lost over it, or if the broker has said nothing: no other address
// is to wait for it again.
func (t *trunk) attach(ctx context.Context, conn broker.Conn, do func(context.Context) error) error {
	select {
	case t.turn <- struct{}{}:
	case <-conn.Done():
		return broker.ErrLost
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.turn }()
	if isDone(conn) {
		return broker.ErrLost
	}
	limited, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	err := do(limited)
	if err == nil {
		return nil
	}
	timer := time.NewTimer(settling)
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
	return fmt.Errorf("%w: %w", errSuspected, err)
}
