// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package caddyfile holds what Rehearsal's directives share: where they stand
// in the order of directives, and the words their options are written in.
package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// The order is kept in one place, by name, so that it is the same whichever of
// the handlers a build contains. The tee wraps all that comes after it, so it
// stands where the last middleware ends; the two responders answer, so they
// stand where responders begin.
func init() {
	httpcaddyfile.RegisterDirectiveOrder("tee", httpcaddyfile.Before, "invoke")
	httpcaddyfile.RegisterDirectiveOrder("simulator", httpcaddyfile.Before, "respond")
	httpcaddyfile.RegisterDirectiveOrder("blackhole", httpcaddyfile.Before, "respond")
}
