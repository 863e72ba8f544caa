// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package response is what the simulator sends for a request, as plain data:
// decided in one place, written by whoever holds the connection.
package response

import (
	"net/textproto"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// Response is what one request gets.
type Response struct {
	*Message

	// Latency is the time from the request to the first byte of the response.
	Latency time.Duration

	// Fault is what is wrong with the response.
	Fault Fault

	// Sent is the share of the body that comes before a cut, below 1.
	Sent float64

	// Pace spreads the body over time.
	Pace Pace

	// Route, Stage and Branch are what decided the response: a route's pattern,
	// the number of its stage, and of the stage's outcome, each counted from 1; 0
	// is what holds outside of them.
	Route         string
	Stage, Branch int
}

// Streams reports whether the response is more than a head and a few blocks of
// memory that can go at once.
func (a *Response) Streams() bool {
	return a.Pace != Pace{} || a.Content.File != "" || a.Chunked || a.Fault == Cut
}

// Cut returns how many bytes of a body of a size come before the cut: not all.
func (a *Response) Cut(size int64) int64 {
	return max(0, min(int64(a.Sent*float64(size)), size-1))
}

// Message is what is sent of a response. It is made once, shared by all requests
// that get it unless it is Single, and never changes.
type Message struct {
	Status int
	// Reason is what stands behind the status in HTTP/1.1; empty: its usual words.
	// net/http has no way to send it.
	Reason string
	// Fields are the header fields, without those of the framing.
	Fields []Field
	// Length is the value of Content-Length; empty where there must be none.
	Length string
	// Chunked is set for a body whose length is not said before it.
	Chunked bool
	// Content is the body; empty if the status has none.
	Content Content
	// Lines counts the values of all fields.
	Lines int
	// Single is set if only one request gets the message: nothing is worth being kept
	// of how it was written.
	Single bool

	wire atomic.Value
	head *Message // has the same fields, and keeps what a writer makes of them
}

// Wire returns the message as a writer sends it, which encode makes once: what
// it returned first is kept, and it must always return the same type. It looks at
// the fields only.
func (m *Message) Wire(encode func(*Message) any) any {
	if m.head != nil {
		m = m.head
	}
	if known := m.wire.Load(); known != nil {
		return known
	}
	made := encode(m)
	m.wire.Store(made)
	return made
}

// Field is a header field and its lines; the name is in canonical form.
type Field struct {
	Name   string
	Values []string
	// Hop marks a field that is about one connection. HTTP/2 and 3 forbid it.
	Hop bool
}

// NewMessage puts a message together. A status that has no body loses it.
func NewMessage(status int, fields []Field, content Content) *Message {
	r := &Message{Status: status, Fields: fields}
	r.take(content)
	for _, field := range fields {
		r.Lines += len(field.Values)
	}
	return r
}

// WithContent returns a message with the same status and fields and another content.
func (m *Message) WithContent(content Content) *Message {
	r := &Message{Status: m.Status, Reason: m.Reason, Fields: m.Fields, Lines: m.Lines, head: m}
	r.take(content)
	return r
}

// single is a message with room for what most have, so that it is made at once.
type single struct {
	Message
	fields [4]Field
	values [4]string
	parts  [1][]byte
}

// ForOne returns a message for one request, with the body and the first lines of the
// fields that are its own: as many as value returns, by their index.
func (m *Message) ForOne(status int, body []byte, values int, value func(i int) string) *Message {
	r := new(single)
	r.Status, r.Reason, r.Lines, r.Single = status, m.Reason, m.Lines, true
	r.Fields = append(r.fields[:0], m.Fields...)
	lines := r.values[:]
	if values > len(lines) {
		lines = make([]string, values)
	}
	for i := range values {
		lines[i] = value(i)
		r.Fields[i].Values = lines[i : i+1 : i+1]
	}
	if len(body) > 0 {
		r.parts[0] = body
		r.take(Content{Parts: r.parts[:], Size: int64(len(body))})
	} else {
		r.take(Content{})
	}
	return &r.Message
}

// take sets the content of a message. A status that has no body loses it.
func (m *Message) take(content Content) {
	if HasBody(m.Status) {
		m.Content = content
	}
	if http1.AllowsBody(m.Status) {
		m.Length = strconv.FormatInt(m.Content.Size, 10)
	}
}

// WithoutLength changes the message so that it does not say how long its body
// is, and returns it.
func (m *Message) WithoutLength() *Message {
	if HasBody(m.Status) {
		m.Length, m.Chunked = "", true
	}
	return m
}

// HasBody reports whether responses of a status have a body at all.
func HasBody(status int) bool { return status != 205 && http1.AllowsBody(status) }

// NewField makes a field with its name in canonical form.
func NewField(name string, values ...string) Field {
	name = textproto.CanonicalMIMEHeaderKey(name)
	kind := http1.FieldOf(name)
	return Field{Name: name, Values: values, Hop: kind == http1.Connection || kind == http1.HopByHop || kind == http1.TE}
}

// TypeOf returns the Content-Type for a body that comes with none: JSON if it
// begins like JSON, else HTML.
func TypeOf(body string) string {
	body = strings.TrimLeft(body, " \t\r\n")
	if strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[") {
		return "application/json; charset=utf-8"
	}
	return "text/html; charset=utf-8"
}

// NewText makes a message of plain text.
func NewText(status int, text string) *Message {
	return NewMessage(status, []Field{NewField("Content-Type", "text/plain; charset=utf-8")}, Bytes([]byte(text)))
}

// Fault is what is wrong with a response.
type Fault string

// The faults there are, and what they do to an HTTP/1 connection. On HTTP/2 and
// 3, where a connection carries other exchanges too, they end the stream with
// an error instead; Malformed does so behind the header and a piece of a body.
const (
	NoFault   Fault = ""
	Reset     Fault = "reset"     // TCP reset
	Empty     Fault = "empty"     // closed without a byte
	Malformed Fault = "malformed" // a chunked response, whose first chunk is none, then closed
	Garbage   Fault = "garbage"   // random bytes, then closed
	Hang      Fault = "hang"      // nothing until the client leaves
	Cut       Fault = "cut"       // the head and a part of the body, then closed
)

// The faults of answers to messages on queues.
const (
	Drop      Fault = "drop"      // none is sent
	Duplicate Fault = "duplicate" // it is sent twice
	Poison    Fault = "poison"    // bytes in place of a text, a text in place of bytes
	Late      Fault = "late"      // it is sent when its request has long been accepted
)

// Answers reports whether the client gets to see a status.
func (f Fault) Answers() bool { return f == NoFault || f == Malformed || f == Cut }
