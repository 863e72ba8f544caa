// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package send sends requests to targets over connections of its own, exactly
// as they were recorded, and returns what became of each.
package send

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Target is a server that requests are sent to.
type Target struct {
	Name    string // what the report calls it
	URL     string // as it was given, with its scheme
	TLS     bool
	Network string // tcp or unix
	Address string // host and port, or the path of a socket
	Host    string // what the Host field is where it is to be the target's
	Base    string // what comes before the path of every request, without a / at its end
}

const targetForms = "expected http://host:port, https://host:port, host:port or unix//path/to/socket"

// ParseTarget parses a target: `[NAME=]URL`, perhaps with a base path, with
// `host:port` for `http://host:port` and Caddy's `unix//path` for a socket.
func ParseTarget(text string) (Target, error) {
	name, address, err := cutName(text)
	if err != nil {
		return Target{}, err
	}
	if path, ok := strings.CutPrefix(address, "unix/"); ok {
		if path == "" {
			return Target{}, fmt.Errorf("'%s' has no path to a socket: %s", text, targetForms)
		}
		return Target{Name: cmp.Or(name, address), URL: address, Network: "unix", Address: path, Host: "localhost"}, nil
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	target, err := fromURL(address)
	if err != nil {
		return Target{}, fmt.Errorf("'%s' is not a target: %v", text, err)
	}
	target.Name = cmp.Or(name, target.Host)
	return target, nil
}

// cutName cuts the NAME= off. A name has none of the characters of which
// every address has one, so that an = further on belongs to the address.
func cutName(text string) (name, address string, err error) {
	name, address, found := strings.Cut(text, "=")
	switch {
	case !found || strings.ContainsAny(name, ":/[?"):
		return "", text, nil
	case name == "":
		return "", "", fmt.Errorf("'%s' has no name before the =", text)
	}
	return name, address, nil
}

func fromURL(text string) (Target, error) {
	if addr, err := netip.ParseAddr(strings.TrimPrefix(text, "http://")); err == nil && addr.Is6() {
		return Target{}, fmt.Errorf("an IPv6 address needs brackets, like [%s]:80", addr)
	}
	u, err := url.Parse(text)
	if err != nil {
		if urlErr, ok := errors.AsType[*url.Error](err); ok {
			err = urlErr.Err
		}
		return Target{}, fmt.Errorf("%v; %s", err, targetForms)
	}
	var port string
	switch u.Scheme {
	case "http":
		port = "80"
	case "https":
		port = "443"
	default:
		return Target{}, fmt.Errorf("scheme '%s' is not http or https; %s", u.Scheme, targetForms)
	}
	switch {
	case u.Hostname() == "":
		return Target{}, fmt.Errorf("it has no host; %s", targetForms)
	case !httpguts.ValidHostHeader(u.Host):
		return Target{}, fmt.Errorf("'%s' is not a host's name as DNS has it", u.Hostname())
	case strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(u.Host, "["):
		return Target{}, fmt.Errorf("an IPv6 address needs brackets, like [::1]:80")
	case u.User != nil:
		return Target{}, errors.New("a target has no credentials: give them as --header 'Authorization: ...'")
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return Target{}, errors.New("a target is scheme, host, port and perhaps a path before all others: queries come from the recording")
	}
	if u.Port() != "" {
		port = u.Port()
	} else if strings.HasSuffix(u.Host, ":") {
		return Target{}, fmt.Errorf("its port is missing; %s", targetForms)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Target{}, fmt.Errorf("port '%s' is not valid: expected 1 to 65535", port)
	}
	base := strings.TrimRight(u.EscapedPath(), "/")
	return Target{
		URL: u.Scheme + "://" + u.Host + base, TLS: u.Scheme == "https",
		Network: "tcp", Address: net.JoinHostPort(u.Hostname(), port), Host: u.Host, Base: base,
	}, nil
}
