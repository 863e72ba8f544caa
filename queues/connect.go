// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// Pauses between attempts to connect.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// sleepFor waits for half to one and a half of a pause, or until the context ends, and
// returns the pause of the next time: twice as long, up to longestPause.
func sleepFor(ctx context.Context, pause time.Duration) time.Duration {
	timer := time.NewTimer(pause/2 + rand.N(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return min(2*pause, longestPause)
}

// connection is the name of a connection in metrics and logs.
type connection struct{ broker, role string }

// keepConnected connects again and again until the context ends, and has each
// connection used until it is lost.
func keepConnected(ctx context.Context, protocol broker.Protocol, log func() *zap.Logger, name connection, use func(broker.Conn) error) {
	connectionCounts.add(name, 1, 0)
	defer connectionCounts.add(name, -1, 0)
	fields := []zap.Field{zap.String("broker", name.broker), zap.String("place", protocol.Place()), zap.String("connection", name.role)}
	pause, before, failing := shortestPause, false, false
	for ctx.Err() == nil {
		conn, err := connect(ctx, protocol)
		if err == nil {
			if before {
				reconnects.WithLabelValues(name.broker).Inc()
			}
			before, failing = true, false
			connectionCounts.add(name, 0, 1)
			log().Info("connected", fields...)
			began := time.Now()
			var lost error
			if panicked := broker.Guarded(func() { lost = use(conn) }); panicked != nil {
				lost = panicked
				conn.Close()
			}
			connectionCounts.add(name, 0, -1)
			if ctx.Err() != nil {
				return
			}
			log().Warn("connection lost", append(slices.Clip(fields), zap.Error(lost))...)
			if time.Since(began) > longestPause {
				pause = shortestPause
			}
		} else if ctx.Err() == nil && !failing {
			failing = true // once until it is up again
			log().Warn("cannot connect; trying again", append(slices.Clip(fields), zap.Error(err))...)
		}
		pause = sleepFor(ctx, pause)
	}
}

// connectTimeout is how long it may take to connect, and to attach an address.
const connectTimeout = 15 * time.Second

func connect(ctx context.Context, protocol broker.Protocol) (conn broker.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if panicked := broker.Guarded(func() { conn, err = protocol.Connect(ctx) }); panicked != nil {
		return nil, panicked
	}
	return conn, err
}
