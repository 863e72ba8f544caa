// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package recording is the file format of recorded requests: encoder, reader
// and the recorder that rotates files.
package recording
