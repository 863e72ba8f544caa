// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"errors"
	"fmt"
	"io"
)

// ErrNotRecording is what a Reader returns for something that does not start
// like a recording.
var ErrNotRecording = errors.New("not a recording")

// DamageError tells that a recording goes on with bytes that cannot be read.
// All whole records before them have been delivered.
type DamageError struct {
	Offset  int64 // where the first record begins that is lost, in uncompressed bytes
	Records int64 // how many were read before
	Err     error
}

// Error says where the damage is, what it is and how much was read before it.
func (e *DamageError) Error() string {
	what := "damaged"
	if errors.Is(e.Err, io.ErrUnexpectedEOF) {
		what = "cut off"
	}
	return fmt.Sprintf("recording is %s at byte %d (uncompressed), after %d whole records: %v", what, e.Offset, e.Records, e.Err)
}

// Unwrap gives the error of the layer that met the damage;
// io.ErrUnexpectedEOF means that the recording is cut off.
func (e *DamageError) Unwrap() error { return e.Err }
