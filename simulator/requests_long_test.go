// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package simulator

// requests is how many count makes.
const requests = 10_000
