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

// receive has requests come until Destruct: over the connection that the addresses of
// the broker share, or over one of its own where they share none.
func (in *intake) receive() {
	trunk := in.station.trunk
	if trunk == nil {
		in.keepOwn(in.ctx, in.own)
		return
	}
	refused := false
	for pause := shortestPause; in.ctx.Err() == nil; {
		conn := trunk.await(in.ctx)
		if conn == nil {
			return
		}
		began := time.Now()
		attached, err := in.share(trunk, conn)
		switch {
		case in.ctx.Err() != nil:
			return
		case errors.Is(err, errSuspected):
			in.warn("the address gets a connection of its own", err)
			in.quarantine()
		case attached:
			refused = false
			if !isDone(conn) {
				in.warn("no longer receives; trying again", err)
			}
		case !isDone(conn) && !refused:
			refused = true // once until it receives
			in.warn("cannot receive; trying again", err)
		}
		if time.Since(began) > longestPause {
			pause = shortestPause
		}
		pause = sleepFor(in.ctx, pause)
	}
}

func (in *intake) warn(what string, err error) {
	in.log().Warn(what, zap.String("broker", in.broker), zap.String("address", in.address), zap.Error(err))
}

// share receives over the connection that others have too.
func (in *intake) share(t *trunk, conn broker.Conn) (attached bool, err error) {
	panicked := broker.Guarded(func() {
		var l *link
		err = t.attach(in.ctx, conn, func(ctx context.Context) (err error) {
			l, err = in.attach(ctx, conn)
			return err
		})
		if err == nil {
			attached = true
			err = in.serve(conn, l)
		}
	})
	return attached, errors.Join(panicked, err)
}

// quarantine receives over connections that no other address has, until one of them
// has served: then the address is as good as others.
func (in *intake) quarantine() {
	ctx, cancel := context.WithCancel(in.ctx)
	defer cancel()
	in.keepOwn(ctx, func(conn broker.Conn) (bool, error) {
		attached, err := in.own(conn)
		if attached {
			cancel()
		}
		return attached, err
	})
}

func (in *intake) keepOwn(ctx context.Context, use func(broker.Conn) (bool, error)) {
	keepConnected(ctx, in.protocol, in.log, connection{in.broker, "requests " + in.address}, func(conn broker.Conn) error {
		defer conn.Close()
		_, err := use(conn)
		return err
	})
}

// own receives over a connection that no other address has.
func (in *intake) own(conn broker.Conn) (attached bool, err error) {
	ctx, cancel := context.WithTimeout(in.ctx, connecting)
	defer cancel()
	l, err := in.attach(ctx, conn)
	if err != nil {
		return false, err
	}
	return true, in.serve(conn, l)
}

// attach begins to receive.
func (in *intake) attach(ctx context.Context, conn broker.Conn) (*link, error) {
	l := &link{asleep: make(map[*request]*time.Timer)}
	sub, err := conn.Receive(ctx, broker.Source{Address: in.address, Credit: in.credit, Deliver: func(sub broker.Subscription, d *broker.Delivery) {
		if err := broker.Guarded(func() { in.deliver(l, sub, d) }); err != nil {
			in.log().Error("deciding on a request", zap.Error(err))
		}
	}})
	if err != nil {
		l.die()
		return nil, err
	}
	l.sub = sub
	return l, nil
}

// serve goes on until the link is lost or the intake ends.
func (in *intake) serve(conn broker.Conn, l *link) (err error) {
	in.mu.Lock()
	in.link = l
	stopping := in.stopping
	in.mu.Unlock()
	if stopping {
		l.sub.Pause()
	}
	in.up.Store(true)
	defer in.up.Store(false)
	in.log().Info("receiving", zap.String("broker", in.broker), zap.String("address", in.address), zap.Int("credit", in.credit))
	select {
	case <-l.sub.Done():
		err = l.sub.Err()
	case <-conn.Done():
		err = conn.Err()
	case <-in.ctx.Done():
	}
	l.die()
	in.mu.Lock()
	in.link = nil
	in.mu.Unlock()
	l.sub.Close()
	return err
}
