// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package compare finds what differs between two responses to one request, by
// meaning rather than by bytes. Whether a difference means anything is decided
// in package tally. It knows no Caddy and no HTTP server.
package compare

import "time"

// Response is a response as data. It is only read, and only during a call.
type Response struct {
	Status int
	// Header and Trailer have a line `Name: value` for each field, each with a
	// line end.
	Header, Trailer []byte
	// Body is as sent, packed if Content-Encoding has it so.
	Body []byte
	// BodySize is how many bytes were sent: more than Body has, if it was cut
	// when it was kept. 0 stands for all of Body.
	BodySize int64
	// Error is how the response broke off, if it did.
	Error string
	// Time is when the request was sent. Without it no value counts as a time
	// near its request.
	Time time.Time
	// Duration is from sending to the response's end.
	Duration time.Duration
}

func (r *Response) cut() bool { return r.BodySize > int64(len(r.Body)) }

// logged reports whether no more is known than an access log has: the status and
// a size.
func (r *Response) logged() bool { return len(r.Header) == 0 && len(r.Body) == 0 && r.cut() }

// Kind is how a field differs.
type Kind string

// Kinds of differences.
const (
	Changed Kind = "changed"
	Missing Kind = "missing" // the old response has it
	Added   Kind = "added"   // the new response has it
	Type    Kind = "type"    // a number became text, JSON became HTML
	Order   Kind = "order"   // the same elements, in another order
)

// Difference is one field that differs.
type Difference struct {
	// Field is status, error, body, `header Name`, `trailer Name`, `line 7` or
	// a JSON path.
	Field string
	Kind  Kind
	// Old and New are the values as they are written in the responses; one of
	// them is nil where it is missing or added. They are valid until the next
	// comparison; Short makes them readable.
	Old, New []byte
	// Generated is set where both look made for this one response: two UUIDs,
	// two times near their requests.
	Generated Generated
}

// Reasons for which bodies were not compared in full.
const (
	Truncated   = "truncated"    // not all of a body was kept
	TooLarge    = "too_large"    // it unpacks to more than Rules.MaxBody
	BadEncoding = "bad_encoding" // it does not unpack
	TooDeep     = "too_deep"     // nested deeper than is followed
	TooMany     = "too_many"     // more values, or differences, than are looked at
	Broken      = "broken_off"   // a response has no end
	ClassOf     = "status_class" // the classes of the statuses differ
)

// Result is what one comparison found.
type Result struct {
	// Differences has each field and kind once, with the values of the first
	// place.
	Differences []Difference
	// Ignored counts the differences that a rule dropped.
	Ignored int
	// Unequal is set where Rules.RequireEqual had different values: nothing
	// else was compared then.
	Unequal bool
	// Partial is the reason for which not everything was compared, if so.
	Partial string
}
