// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package amqp speaks AMQP 1.0 to brokers, for the queue simulator.
package amqp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

func init() { caddy.RegisterModule(Broker{}) }

// Broker is a broker that speaks AMQP 1.0: IBM MQ, ActiveMQ, Artemis, RabbitMQ, Azure
// Service Bus, Solace, Qpid.
type Broker struct {
	// The URL of the broker, like `amqp://user:{env.MQ_PASSWORD}@mq.example:5672`, or
	// `amqps://` for TLS. Default ports are 5672 and 5671. Placeholders in user,
	// password and host are replaced at load.
	URL string `json:"url,omitempty"`

	// What addresses are to the broker: `queue` or `topic`. IBM MQ, Solace and Artemis
	// ask for it. Default: nothing is said.
	Capability string `json:"capability,omitempty"`

	// Sends answers over a link for each address, where the broker has none for
	// messages to any address (an anonymous relay). Default: false.
	SenderPerAddress bool `json:"sender_per_address,omitempty"`

	// The virtual host or the name that the broker is asked for. Default: the host of
	// the URL.
	VirtualHost string `json:"virtual_host,omitempty"`

	// How connections are encrypted, for `amqps://`. Default: with the authorities of
	// the system.
	TLS *broker.TLS `json:"tls,omitempty"`

	address broker.Address
}

// CaddyModule returns the Caddy module information.
func (Broker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: broker.Namespace + ".amqp", New: func() caddy.Module { return new(Broker) }}
}

const secure = "amqps"

var ports = map[string]string{"amqp": "5672", secure: "5671"}

// Provision reads the URL.
func (b *Broker) Provision(caddy.Context) (err error) {
	if b.address, err = broker.ParseAddress(b.URL, ports); err != nil {
		return fmt.Errorf("url: %v", err)
	}
	if b.TLS != nil && b.address.Scheme != secure {
		return errors.New("tls: is for amqps://")
	}
	if _, err := b.TLS.Config(b.address.Name); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}

// UnmarshalBroker reads the option `broker` behind the URL:
//
//	broker <name> <url> {
//	    capability         queue|topic
//	    sender_per_address on|off
//	    virtual_host       <name>
//	    tls                { ... }
//	}
func (b *Broker) UnmarshalBroker(url string, d *caddyfile.Dispenser) error {
	b.URL = url
	if err := broker.CheckURL(url, ports); err != nil {
		return d.Errf("parsing broker: %v", err)
	}
	return words.Options{
		"capability":         words.Value(&b.Capability, words.Plain),
		"sender_per_address": words.Value(&b.SenderPerAddress, parseSwitch),
		"virtual_host":       words.Value(&b.VirtualHost, words.Plain),
		"tls":                broker.ParseTLS(&b.TLS),
	}.Block(d, "broker")
}

func parseSwitch(word string) (bool, error) {
	switch word {
	case "on", "off":
		return word == "on", nil
	}
	return false, fmt.Errorf("'%s' is neither on nor off", word)
}

// Place implements broker.Protocol.
func (b *Broker) Place() string { return b.address.Place() }

// Key implements broker.Protocol.
func (b *Broker) Key() string {
	return b.address.Key(b.Capability, b.SenderPerAddress, b.VirtualHost, b.TLS)
}

// dialing is how long the connection alone may take.
const dialing = 10 * time.Second

// Connect implements broker.Protocol.
func (b *Broker) Connect(ctx context.Context) (broker.Conn, error) {
	options := &amqp.ConnOptions{
		ContainerID: containerID(),
		HostName:    b.address.Name,
		SASLType:    amqp.SASLTypeAnonymous(),
		MaxSessions: mostSessions,
	}
	if b.VirtualHost != "" {
		options.HostName = b.VirtualHost
	}
	if b.address.User != "" {
		options.SASLType = amqp.SASLTypePlain(b.address.User, b.address.Password)
	}
	socket, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	inner, err := amqp.NewConn(ctx, socket, options)
	if err != nil {
		socket.Close()
		return nil, err
	}
	c := &conn{Conn: inner, b: b, outlets: make(map[string]*outlet)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

func (b *Broker) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialing}
	socket, err := dialer.DialContext(ctx, "tcp", b.address.Host)
	if err != nil || b.address.Scheme != secure {
		return socket, err
	}
	return broker.Secure(ctx, socket, b.TLS, b.address.Name)
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
	outlets map[string]*outlet
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
