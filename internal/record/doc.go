// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package record is the record option of handlers that record requests: its
// JSON, its Caddyfile block and its defaults.
package record
