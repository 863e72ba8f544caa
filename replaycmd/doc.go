// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package replaycmd is the command `caddy replay`: it sends recordings to one
// or more targets, measures and judges.
package replaycmd
