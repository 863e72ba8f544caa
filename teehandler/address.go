// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// address is what a shadow's URL says.
type address struct {
	network, dial string
	secure        bool
	name          string // without the port
	host          string // for the Host field
	base          string // path before every target
}

// parseAddress reads a shadow's URL.
func parseAddress(text string) (*address, error) {
	if socket, ok := unixSocket(text); ok {
		if strings.Trim(socket, "/") == "" {
			return nil, errors.New("no path to a socket")
		}
		return &address{network: "unix", dial: socket, name: "localhost", host: "localhost"}, nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		if strings.Count(text, ":") > 2 && !strings.Contains(text, "[") {
			return nil, fmt.Errorf("%v (an IPv6 address goes into brackets)", errors.Unwrap(err))
		}
		return nil, errors.Unwrap(err)
	}
	a := &address{network: "tcp", name: u.Hostname(), host: u.Host, base: strings.TrimRight(u.EscapedPath(), "/")}
	port := u.Port()
	switch u.Scheme {
	case "https":
		a.secure = true
		port = or(port, "443")
	case "http":
		port = or(port, "80")
	default:
		return nil, fmt.Errorf("scheme '%s' is unknown: use http, https or unix, or reverse_proxy in a handle block", u.Scheme)
	}
	switch {
	case a.name == "" || !httpguts.ValidHostHeader(u.Host):
		return nil, errors.New("no host")
	case strings.Contains(a.name, ":") && !strings.Contains(u.Host, "["):
		return nil, errors.New("an IPv6 address goes into brackets")
	case u.User != nil:
		return nil, errors.New("user and password go into header_up Authorization")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("only a path may follow the host")
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return nil, fmt.Errorf("port '%s' is none", port)
	}
	a.dial = net.JoinHostPort(a.name, port)
	return a, nil
}

// unixSocket gives the path of `unix//path` and `unix:///path`.
func unixSocket(text string) (string, bool) {
	if path, ok := strings.CutPrefix(text, "unix://"); ok {
		return path, true
	}
	return strings.CutPrefix(text, "unix/")
}

func or(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
