// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// rawTarget gives the request's target as the tee sees it: byte for byte what
// the client sent, as long as no handler has changed the URL.
func rawTarget(r *http.Request) string {
	original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if ok && !sameTarget(r.URL, original.URL) {
		return r.URL.RequestURI()
	}
	if !ok || original.RequestURI == "" {
		return r.URL.RequestURI()
	}
	return originForm(original.RequestURI)
}

func sameTarget(a, b *url.URL) bool {
	return b != nil && a.Path == b.Path && a.RawPath == b.RawPath && a.RawQuery == b.RawQuery &&
		a.Opaque == b.Opaque && a.ForceQuery == b.ForceQuery
}

// originForm cuts scheme and authority off a target that was meant for a proxy.
func originForm(target string) string {
	if target == "*" || strings.HasPrefix(target, "/") {
		return target
	}
	_, rest, ok := strings.Cut(target, "://")
	if !ok {
		return target
	}
	i := strings.IndexAny(rest, "/?")
	switch {
	case i < 0:
		return "/"
	case rest[i] == '?':
		return "/" + rest[i:]
	}
	return rest[i:]
}

// joinTarget puts a shadow's base path before the target.
func joinTarget(dst []byte, base, target string) []byte {
	if base != "" && target != "*" {
		dst = append(dst, base...)
	}
	return append(dst, target...)
}

// sendable tells whether a request line can carry the method and target.
func sendable(method, target string) bool {
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return target != "" && isToken(method)
}
