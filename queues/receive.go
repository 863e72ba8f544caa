// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// receive receives requests until Destruct: over the connection that the addresses of
// the broker share, or over one of its own where they share none.
func (rc *receiver) receive() {
	shared := rc.conns.requests
	if shared == nil {
		rc.keepOwn(rc.ctx, rc.own)
		return
	}
	refused := false
	for pause := shortestPause; rc.ctx.Err() == nil; {
		conn := shared.await(rc.ctx)
		if conn == nil {
			return
		}
		began := time.Now()
		attached, err := rc.share(shared, conn)
		switch {
		case rc.ctx.Err() != nil:
			return
		case errors.Is(err, errLostByAddress):
			rc.warn("the address gets a connection of its own", err)
			rc.quarantine()
		case attached:
			refused = false
			if !isDone(conn) {
				rc.warn("no longer receives; trying again", err)
			}
		case !isDone(conn) && !refused:
			refused = true // once until it receives
			rc.warn("cannot receive; trying again", err)
		}
		if time.Since(began) > longestPause {
			pause = shortestPause
		}
		pause = sleepFor(rc.ctx, pause)
	}
}

func (rc *receiver) warn(what string, err error) {
	rc.log().Warn(what, zap.String("broker", rc.broker), zap.String("address", rc.address), zap.Error(err))
}

// share receives over the connection that others have too.
func (rc *receiver) share(shared *sharedConn, conn broker.Conn) (attached bool, err error) {
	panicked := broker.Guarded(func() {
		var l *link
		err = shared.attach(rc.ctx, conn, func(ctx context.Context) (err error) {
			l, err = rc.attach(ctx, conn)
			return err
		})
		if err == nil {
			attached = true
			err = rc.serve(conn, l)
		}
	})
	return attached, errors.Join(panicked, err)
}

// quarantine receives over connections that no other address has, until one of them
// has served: then the address is as good as others.
func (rc *receiver) quarantine() {
	ctx, cancel := context.WithCancel(rc.ctx)
	defer cancel()
	rc.keepOwn(ctx, func(conn broker.Conn) (bool, error) {
		attached, err := rc.own(conn)
		if attached {
			cancel()
		}
		return attached, err
	})
}

func (rc *receiver) keepOwn(ctx context.Context, use func(broker.Conn) (bool, error)) {
	keepConnected(ctx, rc.protocol, rc.log, connection{rc.broker, "requests " + rc.address}, func(conn broker.Conn) error {
		defer conn.Close()
		_, err := use(conn)
		return err
	})
}

// own receives over a connection that no other address has.
func (rc *receiver) own(conn broker.Conn) (attached bool, err error) {
	ctx, cancel := context.WithTimeout(rc.ctx, connectTimeout)
	defer cancel()
	l, err := rc.attach(ctx, conn)
	if err != nil {
		return false, err
	}
	return true, rc.serve(conn, l)
}

// attach begins to receive.
func (rc *receiver) attach(ctx context.Context, conn broker.Conn) (*link, error) {
	l := &link{asleep: make(map[*request]*time.Timer)}
	sub, err := conn.Receive(ctx, broker.Source{Address: rc.address, Credit: rc.credit, Deliver: func(sub broker.Subscription, d *broker.Delivery) {
		if err := broker.Guarded(func() { rc.deliver(l, sub, d) }); err != nil {
			rc.log().Error("deciding on a request", zap.Error(err))
		}
	}})
	if err != nil {
		l.die()
		return nil, err
	}
	l.sub = sub
	return l, nil
}

// serve goes on until the link is lost or the receiver ends.
func (rc *receiver) serve(conn broker.Conn, l *link) (err error) {
	rc.mu.Lock()
	rc.link = l
	stopping := rc.stopping
	rc.mu.Unlock()
	if stopping {
		l.sub.Pause()
	}
	rc.up.Store(true)
	defer rc.up.Store(false)
	rc.log().Info("receiving", zap.String("broker", rc.broker), zap.String("address", rc.address), zap.Int("credit", rc.credit))
	select {
	case <-l.sub.Done():
		err = l.sub.Err()
	case <-conn.Done():
		err = conn.Err()
	case <-rc.ctx.Done():
	}
	l.die()
	rc.conns.answers.dropStale()
	rc.mu.Lock()
	rc.link = nil
	rc.mu.Unlock()
	l.sub.Close()
	return err
}
