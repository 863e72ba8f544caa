// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package stomp speaks STOMP 1.1 and 1.2 to brokers, for the queue simulator.
package stomp

import (
	"context"

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
	hello := &frame{command: "CONNECT"}
	hello.add("accept-version", "1.1,1.2")
	hello.add("host", b.Host())
	hello.add("heart-beat", heartBeats)
	if user, password := b.Credentials(); user != "" {
		hello.add("login", user)
		hello.add("passcode", password)
	}
	c, err := open(ctx, socket, hello)
	if err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

// Interface guards
var (
	_ caddy.Provisioner = (*Broker)(nil)
	_ broker.Protocol   = (*Broker)(nil)
	_ broker.Conn       = (*conn)(nil)
)
