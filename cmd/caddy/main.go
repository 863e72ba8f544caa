// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Command caddy is Caddy with Rehearsal built in.
package main

import (
	_ "time/tzdata"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-rehearsal/rehearsal"
	_ "github.com/caddy-rehearsal/rehearsal/queues"
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

func main() {
	caddycmd.Main()
}
