// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package express answers the rest of a keep-alive HTTP/1.1 connection
// directly: a handler that is asked by Caddy takes the connection over, and
// what follows on it is read, answered and written here, without Caddy's
// routes, logs and other handlers. It does so only on servers whose routes hold
// nothing but this handler behind matchers of hosts, and for those hosts.
//
// Only requests that are plain beyond doubt are answered here: one line, well
// formed fields, at most one Content-Length. As soon as anything else arrives,
// the connection is given back to Caddy's HTTP server with every byte that was
// read, so that Caddy decides on it. The express path can therefore not be
// laxer than Caddy's, and whatever it does not know works as without it.
package express

// Handler answers requests on connections that were taken over.
type Handler interface {
	// TakesExpress reports whether ServeExpress answers the request of x, of
	// which it may look at the head. Any other request is served by Caddy as
	// without express: TakeOver leaves its connection where it is, and one that
	// was taken over is given back with it, until a request of it is taken.
	TakesExpress(x *Exchange) bool

	// ServeExpress answers the request of x, once, through one of Respond,
	// RespondFrom, Start, Conn and Reset.
	//
	// It is called by one goroutine per connection. Nothing of x may be used
	// after it returned, except the strings.
	ServeExpress(x *Exchange)
}
