// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package teehandler is a Caddy handler that copies live requests to shadow
// systems; the client only ever sees the primary.
package teehandler
