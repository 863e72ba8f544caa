// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package blackhole

import (
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestVersitygw holds what the tests of the same words do with a store in memory,
// with a real one.
func TestVersitygw(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *caddytest.S3){
		"killed": killInTheMiddle,
	} {
		t.Run(name, func(t *testing.T) { test(t, caddytest.RunVersitygw(t)) })
	}
}
