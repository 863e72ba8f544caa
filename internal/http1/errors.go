// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"errors"
	"net"
)

// Stage is the part of an exchange that failed.
type Stage string

// The stages of an exchange.
const (
	Connect   Stage = "connecting"
	Handshake Stage = "shaking hands"
	Send      Stage = "sending"
	Receive   Stage = "receiving"
	Malformed Stage = "parsing the response"
)

// Error is a failed exchange.
type Error struct {
	// Stage is where it failed.
	Stage Stage
	// Err is how.
	Err error
}

func (e *Error) Error() string { return string(e.Stage) + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout tells whether the deadline ended the exchange.
func (e *Error) Timeout() bool {
	timeout, ok := errors.AsType[net.Error](e.Err)
	return ok && timeout.Timeout()
}

var errTooManyInterim = errors.New("too many informational responses")
