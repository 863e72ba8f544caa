// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

// Endpoint is what the configuration of a broker has whatever protocol it speaks:
// where the broker is, and how connections to it are made.
type Endpoint struct {
	// The URL of the broker, like `amqp://user:{env.MQ_PASSWORD}@mq.example:5672`.
	// Schemes are `amqp` and `stomp`, and `amqps` and `stomps` for TLS; default ports are
	// 5672, 61613, 5671 and 61614. Placeholders in user, password and host are replaced
	// at load.
	URL string `json:"url,omitempty"`

	// The virtual host or the name that the broker is asked for. RabbitMQ's is usually
	// `vhost:/` over AMQP and `/` over STOMP. Default: the host of the URL.
	VirtualHost string `json:"virtual_host,omitempty"`

	// How connections are encrypted, for `amqps://` and `stomps://`. Default: with the
	// authorities of the system.
	TLS *TLS `json:"tls,omitempty"`

	address Address
}

// Ports are the default ports of a protocol by the schemes of its URLs. One that
// ends in an s is for TLS.
type Ports map[string]string

// Unmarshal reads the option `broker` behind the URL. The protocol may have options
// of its own beside
//
//	virtual_host <name>
//	tls          { ... }
func (e *Endpoint) Unmarshal(url string, ports Ports, d *caddyfile.Dispenser, own words.Options) error {
	e.URL = url
	if err := CheckURL(url, ports); err != nil {
		return d.Errf("parsing broker: %v", err)
	}
	all := words.Options{
		"virtual_host": words.Value(&e.VirtualHost, words.Plain),
		"tls":          ParseTLS(&e.TLS),
	}
	maps.Copy(all, own)
	return all.Block(d, "broker")
}

// Read reads the URL and the files of TLS. The error begins with the field.
func (e *Endpoint) Read(ports Ports) (err error) {
	if e.address, err = ParseAddress(e.URL, ports); err != nil {
		return fmt.Errorf("url: %v", err)
	}
	if e.TLS != nil && !e.secure() {
		return errors.New("tls: is for amqps:// and stomps://")
	}
	if _, err := e.TLS.Config(e.address.Name); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}

func (e *Endpoint) secure() bool { return strings.HasSuffix(e.address.Scheme, "s") }

// Place returns scheme and host of the broker, without credentials.
func (e *Endpoint) Place() string { return e.address.Place() }

// KeyWith returns all that changes how connections are made, with what else does for
// the protocol.
func (e *Endpoint) KeyWith(parts ...any) string {
	return e.address.Key(append(parts, e.VirtualHost, e.TLS)...)
}

// Host returns the name that the broker is asked for.
func (e *Endpoint) Host() string { return cmp.Or(e.VirtualHost, e.address.Name) }

// Credentials returns who asks; empty: nobody in particular.
func (e *Endpoint) Credentials() (user, password string) {
	return e.address.User, e.address.Password
}

// dialTimeout is how long the connection alone may take.
const dialTimeout = 10 * time.Second

// Dial connects to the broker, with TLS if its URL has that.
func (e *Endpoint) Dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	socket, err := dialer.DialContext(ctx, "tcp", e.address.Host)
	if err != nil || !e.secure() {
		return socket, err
	}
	return Secure(ctx, socket, e.TLS, e.address.Name)
}
