// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package simulator is a Caddy handler that plays an origin as a recipe says,
// stage by stage: slow, failing, huge, recovered.
package simulator
