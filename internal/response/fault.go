// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

// Fault is a way in which an answer is no answer.
type Fault string

// The faults there are, and what they do to an HTTP/1 connection. On HTTP/2 and
// 3, where a connection carries other exchanges too, they end the stream with
// an error instead; Malformed does so behind the header and a piece of a body.
const (
	NoFault   Fault = ""
	Reset     Fault = "reset"     // TCP reset
	Empty     Fault = "empty"     // closed without a byte
	Malformed Fault = "malformed" // a chunked answer, whose first chunk is none, then closed
	Garbage   Fault = "garbage"   // random bytes, then closed
	Hang      Fault = "hang"      // nothing until the client leaves
	Cut       Fault = "cut"       // the head and a part of the body, then closed
)

// Answers reports whether the client gets to see a status.
func (f Fault) Answers() bool { return f == NoFault || f == Malformed || f == Cut }
