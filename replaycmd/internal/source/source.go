// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package source reads what is to be sent: recordings of any format that it
// knows, merged in the order of time, or one URL over and over. Where they are
// kept is up to those who open them.
package source

import (
	"io"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Source returns records one by one, io.EOF after the last. A record is valid
// until the next call of Next.
type Source interface {
	Next() (*recording.Request, error)
	io.Closer
}

// UnreadableError is part of a recording that can't be sent.
type UnreadableError struct {
	Name string // of the file
	Err  error
}

// Error names the file and says what is wrong with it.
func (p *UnreadableError) Error() string { return p.Name + ": " + p.Err.Error() }

// Unwrap returns the cause.
func (p *UnreadableError) Unwrap() error { return p.Err }
