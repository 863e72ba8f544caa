// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package recorder

// raceDetector is whether pools forget at random, as they do under the race
// detector.
const raceDetector = false
