// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"net"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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

// forwardClientIP writes where the request comes from into the fields that tell
// it, as reverse_proxy does: what the client itself has put there stays only if it
// is one of the server's trusted_proxies.
func forwardClientIP(header http.Header, r *http.Request) {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	if !trusted {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"} {
			delete(header, name)
		}
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	ip, _, _ = strings.Cut(ip, "%") // a zone means nothing elsewhere
	switch {
	case err == nil:
		extend(header, "X-Forwarded-For", ip)
	case !trusted:
		return // neither does reverse_proxy say anything of a client without an address
	}
	keep(header, "X-Forwarded-Proto", scheme)
	keep(header, "X-Forwarded-Host", r.Host)
	extend(header, "Forwarded", "for="+forwardedNode(ip)+";host="+quoted(r.Host)+";proto="+scheme)
}

// extend adds a value to the list in a field and makes it one line.
func extend(header http.Header, name, value string) {
	header[name] = []string{strings.Join(append(header[name], value), ", ")}
}

// keep sets a field to its last value, or to this one if it has none.
func keep(header http.Header, name, value string) {
	if prior := header[name]; len(prior) > 0 && prior[len(prior)-1] != "" {
		value = prior[len(prior)-1]
	}
	header[name] = []string{value}
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
