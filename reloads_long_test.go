// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package rehearsal

import "testing"

// TestNothingIsLostByAHundredReloads is the long form of TestNothingIsLostByReloads.
func TestNothingIsLostByAHundredReloads(t *testing.T) { accountForReloads(t, 100) }
