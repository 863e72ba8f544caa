// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"net"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
)

// The two special values of the host option.
const (
	hostPreserve = "preserve"
	hostTarget   = "target"
)

// rewrites tells whether copies differ from the request in Host or header.
func (h *Handler) rewrites() bool {
	return h.HeaderUp != nil || h.ForwardClientIP || h.fixedHost()
}

// fixedHost tells whether all copies have the same configured Host.
func (h *Handler) fixedHost() bool {
	return h.Host != "" && h.Host != hostPreserve && h.Host != hostTarget
}

// rewrite gives the header of the copy, and sets its Host. It has to happen
// while the request lives, as placeholders look into it.
func (h *Handler) rewrite(r *http.Request, s *snapshot, named []string) http.Header {
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	header := r.Header.Clone()
	leaveBehind(header, named)
	if h.fixedHost() {
		s.host = repl.ReplaceAll(h.Host, "")
	}
	if h.ForwardClientIP {
		forwardClientIP(header, r)
	}
	if h.HeaderUp != nil {
		header["Host"] = []string{s.host}
		h.HeaderUp.ApplyTo(header, repl)
		s.host = ""
		if hosts := header["Host"]; len(hosts) > 0 {
			s.host = hosts[len(hosts)-1]
		}
		leaveBehind(header, nil) // Host as well
	}
	return header
}

// setsHost tells whether the operations concern Host.
func setsHost(ops *headers.HeaderOps) bool {
	if ops == nil {
		return false
	}
	for _, fields := range []http.Header{ops.Add, ops.Set} {
		for name := range fields {
			if strings.EqualFold(name, "Host") {
				return true
			}
		}
	}
	for name := range ops.Replace {
		if strings.EqualFold(name, "Host") {
			return true
		}
	}
	for _, name := range ops.Delete {
		if strings.EqualFold(name, "Host") {
			return true
		}
	}
	return false
}

// forwardClientIP adds the address of the client to the two fields that tell
// it, after what is there already.
func forwardClientIP(header http.Header, r *http.Request) {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	ip, _, _ = strings.Cut(ip, "%") // a zone means nothing elsewhere
	extend(header, "X-Forwarded-For", ip)

	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	extend(header, "Forwarded", "for="+forwardedNode(ip)+";host="+quoted(r.Host)+";proto="+scheme)
}

// extend adds a value to the list in a field and makes it one line.
func extend(header http.Header, name, value string) {
	header[name] = []string{strings.Join(append(header[name], value), ", ")}
}

// forwardedNode writes an address as RFC 7239 wants it.
func forwardedNode(ip string) string {
	if net.ParseIP(ip) == nil {
		return "unknown"
	}
	if strings.Contains(ip, ":") {
		return `"[` + ip + `]"`
	}
	return ip
}

// quoted writes a value as a token, or as a quoted string if it is none.
func quoted(value string) string {
	if isToken(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
