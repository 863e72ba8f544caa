// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"net"
	"strconv"
)

// peers takes the conditions on who asks whom: the client's address, the host
// that it means, the port and the scheme.
func (f *fields) peers() ([]condition, error) {
	var list []condition
	for _, peer := range []struct {
		field string
		of    func(*Request) string
		parse func(path string, data json.RawMessage) (pattern, error)
	}{
		{"host", hostOf, parsePattern},
		{"clientIp", func(r *Request) string { return r.ClientIP }, parsePattern},
		{"port", portOf, parsePlain},
		{"scheme", func(r *Request) string { return r.Scheme }, parsePlain},
	} {
		data, given := f.take(peer.field)
		if !given {
			continue
		}
		one, err := peer.parse(f.at(peer.field), data)
		if err != nil {
			return nil, f.located(peer.field, err)
		}
		values := func(r *Request, _ string, visit visitor) { visit(peer.of(r)) }
		list = append(list, condition{path: f.at(peer.field), name: peer.field, values: values, one: one})
	}
	return list, nil
}

// parsePlain reads a text or a number that has to be equal.
func parsePlain(_ string, data json.RawMessage) (pattern, error) {
	return parseEqualTo(new(fields), data)
}

func hostOf(r *Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return r.Host
}

// portOf gives the port that the client means; without one it is the scheme's.
func portOf(r *Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		if n, err := strconv.Atoi(port); err == nil {
			return strconv.Itoa(n)
		}
	}
	if r.Scheme == "https" {
		return "443"
	}
	return "80"
}
