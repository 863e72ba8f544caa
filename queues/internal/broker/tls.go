// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

// TLS is how a connection to a broker is encrypted.
type TLS struct {
	// A file with the certificates of the authorities that are trusted, in PEM.
	// Default: those of the system.
	CA string `json:"ca,omitempty"`

	// Files with a certificate that is shown to the broker and its key, in PEM.
	// Default: none is shown.
	Cert string `json:"cert,omitempty"`
	Key  string `json:"key,omitempty"`

	// The name that the certificate of the broker has to be for. Default: the host
	// of its URL.
	ServerName string `json:"server_name,omitempty"`

	// Takes any certificate of the broker: whoever is between can read and change
	// what is sent. Default: false.
	InsecureSkipVerify bool `json:"insecure_skip_verify,omitempty"`
}

// ParseTLS returns the reader of the option `tls`:
//
//	tls {
//	    ca   <file>
//	    cert <file>
//	    key  <file>
//	    server_name <name>
//	    insecure_skip_verify
//	}
func ParseTLS(to **TLS) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		if err := words.Flag(d); err != nil {
			return err
		}
		*to = new(TLS)
		return words.Options{
			"ca":                   words.File(&(*to).CA),
			"cert":                 words.File(&(*to).Cert),
			"key":                  words.File(&(*to).Key),
			"server_name":          words.Value(&(*to).ServerName, words.Plain),
			"insecure_skip_verify": words.On(&(*to).InsecureSkipVerify),
		}.Block(d, "tls")
	}
}

// Config returns the configuration of a client that connects to a host. There may
// be no options.
func (t *TLS) Config(host string) (*tls.Config, error) {
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if t == nil {
		return config, nil
	}
	if t.ServerName != "" {
		config.ServerName = t.ServerName
	}
	config.InsecureSkipVerify = t.InsecureSkipVerify //nolint:gosec // as the configuration says
	if t.CA != "" {
		pem, err := readFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca: there is no certificate in %s", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("cert and key belong together")
	}
	if t.Cert != "" {
		cert, err := readFile(t.Cert)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		key, err := readFile(t.Key)
		if err != nil {
			return nil, fmt.Errorf("key: %w", err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func readFile(name string) ([]byte, error) {
	name, err := caddy.NewReplacer().ReplaceOrErr(name, true, true)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	return data, units.LookedIn(err, name)
}

// Secure begins TLS with a host on a connection, which is closed if that fails.
func Secure(ctx context.Context, socket net.Conn, options *TLS, host string) (net.Conn, error) {
	config, err := options.Config(host)
	if err == nil {
		secured := tls.Client(socket, config)
		if err = secured.HandshakeContext(ctx); err == nil {
			return secured, nil
		}
	}
	socket.Close()
	return nil, err
}
