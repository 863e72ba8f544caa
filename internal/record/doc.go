// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package record is recording inside Caddy, for every handler that does it: the
// record option in JSON and in a Caddyfile, recorders that outlive a reload,
// their metrics and log entries, and the describing of requests and responses.
package record
