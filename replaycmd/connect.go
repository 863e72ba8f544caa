// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// connecting is how connections are opened.
type connecting struct {
	cert, key, caCert string
	serverName        string
	sourceIPs         []net.IP
	dnsRefresh        time.Duration
	http3             bool
	streams           int
}

func (c *connecting) define(flags *pflag.FlagSet) {
	flags.Var(single(&c.cert, "FILE", parseText), "cert", "Client certificate (PEM), with its key unless --key has it")
	flags.Var(single(&c.key, "FILE", parseText), "key", "Key of --cert (PEM)")
	flags.Var(single(&c.caCert, "FILE", parseText), "cacert", "Certificates (PEM) that may have signed the server's, instead of the system's")
	flags.Var(single(&c.serverName, "NAME", parseText), "server-name", "Name asked for in TLS and expected in the certificate (default that of --host, or the target's)")
	flags.Var(words(&c.sourceIPs, "IP", parseIP), "source-ip", "Address to send from; several are taken in turn")
	flags.BoolVar(&c.http3, "http3", false, "Speak HTTP/3")
	flags.Var(single(&c.streams, "N", parseFew).or("1"), "streams", "Requests at once on each connection of --http2 or --http3")
	flags.Var(single(&c.dnsRefresh, "DURATION", parseDuration), "dns-refresh", "Open a connection anew, by its name, when it is this old")
}

func parseIP(text string) (net.IP, error) {
	ip := net.ParseIP(text)
	if ip == nil {
		return nil, fmt.Errorf("'%s' is not an IP address", text)
	}
	return ip, nil
}

// apply reads the files and adds what the flags say to options.
func (c *connecting) apply(options *send.Options) error {
	if c.key != "" && c.cert == "" {
		return errors.New("--key is the key of --cert: expected both")
	}
	if c.cert != "" {
		certificate, err := tls.LoadX509KeyPair(c.cert, cmp.Or(c.key, c.cert))
		if err != nil && c.key == "" {
			return fmt.Errorf("--cert: %v: expected a certificate and its key in '%s', or the key in a file of --key", err, c.cert)
		}
		if err != nil {
			return fmt.Errorf("--cert, --key: %v", err)
		}
		options.Certificates = []tls.Certificate{certificate}
	}
	if c.caCert != "" {
		pem, err := os.ReadFile(c.caCert)
		if err != nil {
			return fmt.Errorf("--cacert: %v", err)
		}
		options.RootCAs = x509.NewCertPool()
		if !options.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("--cacert: '%s' has no certificate in PEM", c.caCert)
		}
	}
	options.ServerName = cmp.Or(c.serverName, options.ServerName)
	options.HTTP3, options.Streams = c.http3, c.streams
	options.SourceIPs, options.Refresh = c.sourceIPs, c.dnsRefresh
	return nil
}

// checkVersion checks what is asked for of a version of HTTP.
func (p *params) checkVersion(url bool, first string) error {
	switch {
	case p.http2 && p.http3:
		return errors.New("--http2 and --http3 exclude one another")
	case p.streams > 1 && !p.http2 && !p.http3:
		return errors.New("--streams is about HTTP/2 and HTTP/3: expected --http2 or --http3 as well")
	case p.streams > 1 && p.noKeepAlive:
		return errors.New("--no-keepalive opens a connection for each request, and --streams shares one: expected one of them")
	case !p.http3:
		return nil
	}
	for _, target := range p.targets {
		if !target.TLS {
			return fmt.Errorf("--http3 needs targets of https, and %s is none", target.URL)
		}
	}
	if url && len(p.targets) == 0 && !strings.HasPrefix(first, "https:") {
		return fmt.Errorf("--http3 needs targets of https, and %s is none", first)
	}
	return nil
}
