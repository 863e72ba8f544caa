// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package stomp speaks STOMP 1.1 and 1.2 to brokers, for the queue simulator.
package stomp

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

func init() { caddy.RegisterModule(Broker{}) }

// Broker is a broker that speaks STOMP: ActiveMQ, Artemis, Amazon MQ, RabbitMQ.
type Broker struct{ broker.Endpoint }

// CaddyModule returns the Caddy module information.
func (Broker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: broker.Namespace + ".stomp", New: func() caddy.Module { return new(Broker) }}
}

var ports = broker.Ports{"stomp": "61613", "stomps": "61614"}

// Provision reads the URL.
func (b *Broker) Provision(caddy.Context) error { return b.Read(ports) }

// UnmarshalBroker reads the option `broker` behind the URL:
//
//	broker <name> <url> {
//	    virtual_host <name>
//	    tls          { ... }
//	}
func (b *Broker) UnmarshalBroker(url string, d *caddyfile.Dispenser) error {
	return b.Unmarshal(url, ports, d, nil)
}

// Shares implements broker.Protocol. STOMP has nothing between a connection and what is
// subscribed to over it: an ERROR about one address is the end of all, and what was
// not settled goes back with the connection only.
func (*Broker) Shares() bool { return false }

// Key implements broker.Protocol.
func (b *Broker) Key() string { return b.KeyWith() }

// Connect implements broker.Protocol.
func (b *Broker) Connect(ctx context.Context) (broker.Conn, error) {
	socket, err := b.Dial(ctx)
	if err != nil {
		return nil, err
	}
	connect := &frame{command: "CONNECT"}
	connect.add("accept-version", "1.1,1.2")
	connect.add("host", b.Host())
	connect.add("heart-beat", heartBeats)
	if user, password := b.Credentials(); user != "" {
		connect.add("login", user)
		connect.add("passcode", password)
	}
	c, err := open(ctx, socket, connect)
	if err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

// heartBeats are how often we can say that we are there, and how often we want to
// hear it, in milliseconds.
const (
	heartBeats = "10000,10000"
	heartBeat  = 10 * time.Second
)

// agree sets what holds for heart-beats, by the broker's header for them: how often
// it can send one, and how often it wants one, in milliseconds.
func (c *conn) agree(theirs string) {
	can, wants, _ := strings.Cut(theirs, ",")
	c.silence = 3 * periodOf(can)
	c.beat = periodOf(wants)
}

// longestBeat is how far heart-beats may be apart.
const longestBeat = 24 * time.Hour

// periodOf returns how far heart-beats are apart, by a number of milliseconds; 0:
// there are none.
func periodOf(text string) time.Duration {
	ms, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || ms <= 0 {
		return 0
	}
	return max(heartBeat, time.Duration(min(ms, longestBeat.Milliseconds()))*time.Millisecond)
}

// Interface guards
var (
	_ caddy.Provisioner = (*Broker)(nil)
	_ broker.Protocol   = (*Broker)(nil)
	_ broker.Conn       = (*conn)(nil)
)
