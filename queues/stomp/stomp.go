// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package stomp speaks STOMP 1.1 and 1.2 to brokers, for the queue simulator.
package stomp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

func init() { caddy.RegisterModule(Broker{}) }

// Broker is a broker that speaks STOMP: ActiveMQ, Artemis, Amazon MQ, RabbitMQ.
type Broker struct {
	// The URL of the broker, like `stomp://user:{env.MQ_PASSWORD}@mq.example:61613`, or
	// `stomps://` for TLS. Default ports are 61613 and 61614. Placeholders in user,
	// password and host are replaced at load.
	URL string `json:"url,omitempty"`

	// The virtual host that the broker is asked for. RabbitMQ's is usually `/`. Default:
	// the host of the URL.
	VirtualHost string `json:"virtual_host,omitempty"`

	// How connections are encrypted, for `stomps://`. Default: with the authorities of
	// the system.
	TLS *broker.TLS `json:"tls,omitempty"`

	address broker.Address
}

// CaddyModule returns the Caddy module information.
func (Broker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: broker.Namespace + ".stomp", New: func() caddy.Module { return new(Broker) }}
}

const secure = "stomps"

var ports = map[string]string{"stomp": "61613", secure: "61614"}

// Provision reads the URL.
func (b *Broker) Provision(caddy.Context) (err error) {
	if b.address, err = broker.ParseAddress(b.URL, ports); err != nil {
		return fmt.Errorf("url: %v", err)
	}
	if b.TLS != nil && b.address.Scheme != secure {
		return errors.New("tls: is for stomps://")
	}
	if _, err := b.TLS.Config(b.address.Name); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}

// UnmarshalBroker reads the option `broker` behind the URL:
//
//	broker <name> <url> {
//	    virtual_host <name>
//	    tls          { ... }
//	}
func (b *Broker) UnmarshalBroker(url string, d *caddyfile.Dispenser) error {
	b.URL = url
	if err := broker.CheckURL(url, ports); err != nil {
		return d.Errf("parsing broker: %v", err)
	}
	return words.Options{
		"virtual_host": words.Value(&b.VirtualHost, words.Plain),
		"tls":          broker.ParseTLS(&b.TLS),
	}.Block(d, "broker")
}

// Place implements broker.Protocol.
func (b *Broker) Place() string { return b.address.Place() }

// Key implements broker.Protocol.
func (b *Broker) Key() string { return b.address.Key(b.VirtualHost, b.TLS) }

// dialing is how long the connection alone may take.
const dialing = 10 * time.Second

// Connect implements broker.Protocol.
func (b *Broker) Connect(ctx context.Context) (broker.Conn, error) {
	dialer := &net.Dialer{Timeout: dialing}
	socket, err := dialer.DialContext(ctx, "tcp", b.address.Host)
	if err != nil {
		return nil, err
	}
	if b.address.Scheme == secure {
		if socket, err = broker.Secure(ctx, socket, b.TLS, b.address.Name); err != nil {
			return nil, err
		}
	}
	hello := &frame{command: "CONNECT"}
	hello.add("accept-version", "1.1,1.2")
	hello.add("host", cmp.Or(b.VirtualHost, b.address.Name))
	hello.add("heart-beat", heartBeats)
	if b.address.User != "" {
		hello.add("login", b.address.User)
		hello.add("passcode", b.address.Password)
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
