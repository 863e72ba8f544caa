// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package rehearsal plugs all of Rehearsal into Caddy when it is imported:
//
//	xcaddy build --with github.com/caddy-rehearsal/rehearsal
//
// Each part can be imported alone by the path of its own package.
package rehearsal

import (
	_ "github.com/caddy-rehearsal/rehearsal/blackhole"
	_ "github.com/caddy-rehearsal/rehearsal/internal/words"
	_ "github.com/caddy-rehearsal/rehearsal/replaycmd"
	_ "github.com/caddy-rehearsal/rehearsal/simulator"
	_ "github.com/caddy-rehearsal/rehearsal/teehandler"
)
