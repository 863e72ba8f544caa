// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package amqp speaks AMQP 1.0 to brokers, for the queue simulator.
package amqp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/Azure/go-amqp"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/words"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

func init() { caddy.RegisterModule(Broker{}) }

// Broker is a broker that speaks AMQP 1.0: IBM MQ, ActiveMQ, Artemis, RabbitMQ, Azure
// Service Bus, Solace, Qpid.
type Broker struct {
	broker.Endpoint

	// What addresses are to the broker: `queue` or `topic`. IBM MQ, Solace and Artemis
	// ask for it. Default: nothing is said.
	Capability string `json:"capability,omitempty"`

	// Sends answers over a link for each address, where the broker has none for
	// messages to any address (an anonymous relay). Default: false.
	SenderPerAddress bool `json:"sender_per_address,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Broker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: broker.Namespace + ".amqp", New: func() caddy.Module { return new(Broker) }}
}

var ports = broker.Ports{"amqp": "5672", "amqps": "5671"}

// Provision reads the URL.
func (b *Broker) Provision(caddy.Context) error { return b.Read(ports) }

// UnmarshalBroker reads the option `broker` behind the URL:
//
//	broker <name> <url> {
//	    capability         queue|topic
//	    sender_per_address on|off
//	    virtual_host       <name>
//	    tls                { ... }
//	}
func (b *Broker) UnmarshalBroker(url string, d *caddyfile.Dispenser) error {
	return b.Unmarshal(url, ports, d, words.Options{
		"capability":         words.Value(&b.Capability, words.Plain),
		"sender_per_address": words.Value(&b.SenderPerAddress, parseSwitch),
	})
}

func parseSwitch(word string) (bool, error) {
	switch word {
	case "on", "off":
		return word == "on", nil
	}
	return false, fmt.Errorf("'%s' is neither on nor off", word)
}

// Shares implements broker.Protocol. Each address has a session.
func (*Broker) Shares() bool { return true }

// Key implements broker.Protocol.
func (b *Broker) Key() string { return b.KeyWith(b.Capability, b.SenderPerAddress) }

// Connect implements broker.Protocol.
func (b *Broker) Connect(ctx context.Context) (broker.Conn, error) {
	options := &amqp.ConnOptions{
		ContainerID: containerID(),
		HostName:    b.Host(),
		SASLType:    amqp.SASLTypeAnonymous(),
		MaxSessions: mostSessions,
	}
	if user, password := b.Credentials(); user != "" {
		options.SASLType = amqp.SASLTypePlain(user, password)
	}
	socket, err := b.Dial(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := amqp.NewConn(ctx, newWire(socket), options)
	if err != nil {
		socket.Close()
		return nil, err
	}
	c := &conn{Conn: inner, b: b, senders: make(map[string]*senderLink)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// containerID returns an ID that no other connection has. IBM MQ makes a client ID
// of it, in which hyphens have no place.
func containerID() string {
	random := make([]byte, 12)
	_, _ = rand.Read(random) // never fails
	return "rehearsal" + hex.EncodeToString(random)
}

// mostSessions is how many sessions a connection has: one for each address that is
// sent to, or that requests come from.
const mostSessions = 1000

// conn is a connection.
type conn struct {
	*amqp.Conn
	b      *Broker
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu      sync.Mutex // guards what follows
	senders map[string]*senderLink
	uses    uint64
}

// Close implements broker.Conn.
func (c *conn) Close() {
	c.cancel()
	_ = c.Conn.Close() // what is wrong with it is no matter any more
}

// Interface guards
var (
	_ caddy.Provisioner = (*Broker)(nil)
	_ broker.Protocol   = (*Broker)(nil)
	_ broker.Conn       = (*conn)(nil)
)
