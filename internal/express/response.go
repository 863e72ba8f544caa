// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
)

// maxCopied is up to which size a body is copied behind its head instead of
// being sent from where it is.
const maxCopied = 4 << 10

// Respond sends a whole response. Without fields of its own they are nil. The
// body, in any number of pieces, is sent from where it is: it must stay as it is
// until ServeExpress has returned. What the method or the status forbids is left
// out, so that HEAD is answered like GET.
func (x *Exchange) Respond(status int, fields *Fields, body ...[]byte) {
	length := 0
	for _, piece := range body {
		length += len(piece)
	}
	x.head(status, fields, int64(length))
	if !x.sendsBody(status) {
		return
	}
	c := x.conn
	if length > maxCopied {
		c.send(body)
		return
	}
	for _, piece := range body {
		c.out = append(c.out, piece...)
	}
}

// minFromFile is from which size on, in bytes, it pays to send a body from a
// file in memory instead of having it copied from the heap.
const minFromFile = 16 << 10

// RespondFrom sends a whole response whose body is the first length bytes of one
// that many share. It does what Respond does; on Linux a large body is not
// copied.
func (x *Exchange) RespondFrom(status int, fields *Fields, body *memfile.Body, length int) {
	var from memfile.Extent
	if x.conn.bare && length >= minFromFile {
		from = body.InFile()
	}
	if from.File == nil {
		x.Respond(status, fields, body.Bytes()[:length])
		return
	}
	x.head(status, fields, int64(length))
	if x.sendsBody(status) {
		x.conn.sendFile(from, length)
	}
}

// UnknownLength is the length of a body of which Start is not to say how long
// it is.
const UnknownLength = -1

// Start sends the head of a response whose body, of exactly length bytes,
// follows through Write. One of UnknownLength is sent in chunks, and End has to
// follow.
func (x *Exchange) Start(status int, fields *Fields, length int64) {
	x.head(status, fields, length)
	x.bodiless = !x.sendsBody(status)
	x.chunked = length == UnknownLength
	if !x.bodiless {
		x.unsent = length
	}
	x.conn.flush()
}

// End sends the end of a body of UnknownLength, without which the client takes
// it for broken off. Other bodies need none.
func (x *Exchange) End() {
	if x.chunked && !x.bodiless {
		x.unsent = 0
		x.conn.out = append(x.conn.out, "0\r\n\r\n"...)
	}
}

// errTooLong is a fault of the handler.
var errTooLong = errors.New("more body than was announced")

// Write sends a part of the body after Start. An error means that the client
// is gone. What the method or the status forbids is left out.
func (x *Exchange) Write(p []byte) (int, error) {
	switch {
	case x.bodiless, len(p) == 0:
		return len(p), nil
	case x.chunked:
		c := x.conn
		c.out = strconv.AppendInt(c.out, int64(len(p)), 16)
		c.out = append(c.out, "\r\n"...)
		c.send([][]byte{p})
		c.out = append(c.out, "\r\n"...)
		return len(p), c.failed
	case int64(len(p)) > x.unsent:
		return 0, errTooLong
	}
	x.unsent -= int64(len(p))
	x.conn.send([][]byte{p})
	return len(p), x.conn.failed
}

func (x *Exchange) sendsBody(status int) bool { return http1.HasBody(x.Method, status) }

// head appends a response's head to what is to be sent.
func (x *Exchange) head(status int, fields *Fields, length int64) {
	x.responded = true
	if fields == nil {
		fields = new(Fields)
	}
	c := x.conn
	out := appendStatus(c.out, status, fields.Reason)
	if !fields.server {
		out = append(out, c.serverLine...)
	}
	if !fields.date {
		out = appendDate(out, x.Started)
	}
	if !fields.altSvc {
		out = append(out, c.altSvc...)
	}
	out = append(out, fields.lines...)
	switch {
	case !http1.AllowsBody(status), length == UnknownLength && x.Method == http.MethodHead:
	case length == UnknownLength:
		out = append(out, "Transfer-Encoding: chunked\r\n"...)
	default:
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, length, 10)
		out = append(out, "\r\n"...)
	}
	if x.last || fields.close || x.unread > maxDrained || c.pool.draining.Load() {
		x.last = true
		out = append(out, "Connection: close\r\n"...)
	}
	c.out = append(out, "\r\n"...)
}

func appendStatus(out []byte, status int, reason string) []byte {
	if status == http.StatusOK && reason == "" {
		return append(out, "HTTP/1.1 200 OK\r\n"...)
	}
	out = append(out, "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(status), 10)
	out = append(out, ' ')
	if text := cmp.Or(reason, http.StatusText(status)); text != "" {
		out = append(out, text...)
	} else {
		out = append(out, "status code "...)
		out = strconv.AppendInt(out, int64(status), 10)
	}
	return append(out, "\r\n"...)
}

// dateLine is the Date field of one second.
type dateLine struct {
	second int64
	line   []byte
}

var lastDate atomic.Pointer[dateLine]

func appendDate(out []byte, now time.Time) []byte {
	second := now.Unix()
	date := lastDate.Load()
	if date == nil || date.second != second {
		date = &dateLine{second, []byte("Date: " + now.UTC().Format(http.TimeFormat) + "\r\n")}
		lastDate.Store(date)
	}
	return append(out, date.line...)
}

// Fields are header fields of responses, made once and sent many times. What
// frames a response is not among them: Content-Length is always added, and
// Transfer-Encoding and Trailer are left out.
type Fields struct {
	// Reason is what stands behind the status, a text without line breaks. Default:
	// the usual words for the status.
	Reason string

	lines  []byte
	server bool // there is a Server field, in place of Caddy's
	date   bool // and a Date
	altSvc bool // and an Alt-Svc
	close  bool // responses end their connection
}

// OwnFields returns fields without a line, to be added to for one response: they are
// the connection's and used again.
func (x *Exchange) OwnFields() *Fields {
	own := &x.conn.own
	lines := own.lines[:0]
	if cap(lines) > maxKept {
		lines = nil
	}
	*own = Fields{lines: lines}
	return own
}

// maxKept is how much memory for the lines of one response a connection keeps for
// its next one, in bytes.
const maxKept = 4 << 10

// Add adds a line for a field. A name or value that would break the head is
// left out, as net/http does.
func (f *Fields) Add(name, value string) {
	switch kind := http1.FieldOf(name); {
	case !httpguts.ValidHeaderFieldName(name), !httpguts.ValidHeaderFieldValue(value):
		return
	case kind == http1.ContentLength, kind == http1.TransferEncoding, kind == http1.Trailer:
		return
	case kind == http1.Connection && httpguts.HeaderValuesContainsToken([]string{value}, "close"):
		f.close = true
		return
	case is(name, "Server"):
		f.server = true
	case is(name, "Date"):
		f.date = true
	case is(name, "Alt-Svc"):
		f.altSvc = true
	}
	f.lines = http1.AppendField(f.lines, name, value)
}

func is(name, other string) bool { return len(name) == len(other) && strings.EqualFold(name, other) }
