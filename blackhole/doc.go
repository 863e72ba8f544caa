// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package blackhole is a Caddy handler that acknowledges every request and, if
// asked to, records it so that it can be sent again byte for byte.
package blackhole
