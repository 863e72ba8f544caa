// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// The two special values of the host option.
const (
	hostPreserve = "preserve"
	hostTarget   = "target"
)

// rewrites reports whether copies differ from the request in Host or header.
func (h *Handler) rewrites() bool {
	return h.HeaderUp != nil || h.ForwardClientIP || h.fixedHost()
}

// fixedHost reports whether all copies have the same configured Host.
func (h *Handler) fixedHost() bool {
	return h.Host != "" && h.Host != hostPreserve && h.Host != hostTarget
}

// rewrite returns the header of the copy, and sets its Host. It has to happen
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

// setsHost reports whether the operations concern Host.
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
	if http1.IsToken(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// markField is what marks a copy, with the name of the tee that made it.
const markField = recording.CopyField

// marked reports whether the request is a copy made by the tee of this name.
func marked(header http.Header, name string) bool {
	return slices.Contains(header[markField], name)
}

// upgrades reports whether the request asks for another protocol. Java's client
// offers h2c with requests that are otherwise usual, so that does not count.
func upgrades(header http.Header) bool {
	protocols := header["Upgrade"]
	return len(protocols) > 0 && !strings.EqualFold(protocols[0], "h2c") &&
		httpguts.HeaderValuesContainsToken(header["Connection"], "Upgrade")
}

// namedByConnection returns the fields that the request's Connection field names.
func namedByConnection(header http.Header) []string {
	var named []string
	for _, value := range header["Connection"] {
		for token := range strings.SplitSeq(value, ",") {
			if token = strings.TrimSpace(token); token != "" {
				named = append(named, http.CanonicalHeaderKey(token))
			}
		}
	}
	return named
}

// staysBehind reports whether a field belongs to the client's connection or to
// the framing of the message, and not to the copy.
func staysBehind(name string, named []string) bool {
	return http1.FieldOf(name) != http1.EndToEnd || slices.Contains(named, name)
}

// leaveBehind deletes what stays behind. Of TE, handlers get to know whether the
// client takes trailers, without which gRPC servers refuse to answer.
func leaveBehind(header http.Header, named []string) {
	trailers := httpguts.HeaderValuesContainsToken(header["Te"], "trailers")
	maps.DeleteFunc(header, func(name string, _ []string) bool { return staysBehind(name, named) })
	if trailers {
		header["Te"] = []string{"trailers"}
	}
}

// appendFields writes the header's fields as on the wire, in the order of
// their names, without what stays behind.
func appendFields(dst []byte, header http.Header, named []string) []byte {
	var room [32]string
	names := room[:0]
	for name := range header {
		if !staysBehind(name, named) && http1.IsToken(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			dst = http1.AppendField(dst, name, value)
		}
	}
	return dst
}
