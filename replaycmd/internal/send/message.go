// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"iter"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Message is one request as it goes over an HTTP/1.1 connection. It is written
// once, by a Rewriter, and then only read, by any number of connections. Its
// memory is reused when it is written again.
type Message struct {
	// Method and Target are those of the request line.
	Method, Target []byte
	// Host is the value of the Host field; empty: the target's own.
	Host []byte
	// Body is the body without its framing.
	Body []byte
	// Chunked reports whether the body goes in chunks, followed by trailers.
	Chunked bool
	// Truncated reports whether the recording has only the beginning of the body.
	Truncated bool

	placed   bool   // the target has its base path already
	wire     []byte // the whole of it
	hostAt   int    // where the value of Host stands in wire
	fieldsAt int    // where the other fields begin
	bodyAt   int    // where the empty line ends
	trailers []byte // part of wire
}

// Fields returns the header fields that follow Host, in order, framing included.
func (m *Message) Fields() iter.Seq2[[]byte, []byte] {
	return recording.EachField(m.wire[m.fieldsAt : m.bodyAt-len(crlf)])
}

// Trailers returns the trailer fields, in order.
func (m *Message) Trailers() iter.Seq2[[]byte, []byte] { return recording.EachField(m.trailers) }

// Size returns how many bytes the message keeps in memory.
func (m *Message) Size() int { return cap(m.wire) }

// addressed appends the message up to an end with a path before its own, unless
// it is placed, and with another host, unless that is empty.
func (m *Message) addressed(buf []byte, base, host string, end int) []byte {
	rest := 0
	if base != "" && m.takesBase() {
		rest = len(m.Method) + 1
		buf = append(append(buf, m.wire[:rest]...), base...)
	}
	if host != "" {
		buf = append(append(buf, m.wire[rest:m.hostAt]...), host...)
		rest = m.hostAt + len(m.Host)
	}
	return append(buf, m.wire[rest:end]...)
}

// takesBase reports whether a base path comes before the target: not before that
// of a redirect, nor where the target is no path.
func (m *Message) takesBase() bool { return !m.placed && m.Target[0] == '/' }

// HasBody reports whether anything follows the head.
func (m *Message) HasBody() bool { return len(m.wire) > m.bodyAt }

// idempotent reports whether sending the request twice is the same as sending it
// once (RFC 9110, section 9.2.2).
func (m *Message) idempotent() bool {
	switch string(m.Method) {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}

func (m *Message) isHead() bool { return string(m.Method) == "HEAD" }

// maxKept is the memory beyond which a message isn't kept for the next record.
const maxKept = 1 << 20

// reset empties the message and keeps its memory.
func (m *Message) reset() {
	wire := m.wire[:0]
	if cap(wire) > maxKept {
		wire = nil
	}
	*m = Message{wire: wire}
}

var crlf = []byte("\r\n")

// Bytes returns the whole message as it is written to a connection.
func (m *Message) Bytes() []byte { return m.wire }
