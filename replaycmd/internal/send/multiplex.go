// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// place is one connection that several clients share, and the one that follows it.
type place struct {
	mu   sync.Mutex
	conn *shared
}

// shared is a connection in the hands of several clients. The last one closes it.
type shared struct {
	connection
	place *place
	users int
}

// newPlace returns the place of the next client, nil if it shares none.
func (d *Dialer) newPlace() *place {
	if d.options.Streams < 2 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.places%d.options.Streams == 0 {
		d.last = new(place)
	}
	d.places++
	return d.last
}

// join returns the connection of the place, or opens one. Others that join wait
// for that.
func (p *place) join(open func() (connection, error)) (connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.conn.stale() {
		conn, err := open()
		if err != nil {
			return nil, err
		}
		p.conn = &shared{connection: conn, place: p}
	}
	p.conn.users++
	return p.conn, nil
}

// close leaves the connection to the others.
func (s *shared) close() {
	s.place.mu.Lock()
	s.users--
	last := s.users == 0
	if last && s.place.conn == s {
		s.place.conn = nil
	}
	s.place.mu.Unlock()
	if last {
		s.connection.close()
	}
}

// captureHead keeps the head of a response of HTTP/2 in the form of HTTP/1. Its
// fields are sorted by name: net/http has lost their order.
func captureHead(c *http1.Capture, resp *http.Response) {
	c.Head = append(append(c.Head, resp.Proto...), ' ')
	c.Head = strconv.AppendInt(c.Head, int64(resp.StatusCode), 10)
	c.Head = append(append(c.Head, ' '), http.StatusText(resp.StatusCode)...)
	c.Head = append(appendFields(append(c.Head, crlf...), resp.Header), crlf...)
}

// appendFields appends a line for each field, sorted by name.
func appendFields(dst []byte, fields http.Header) []byte {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			dst = http1.AppendField(dst, name, value)
		}
	}
	return dst
}

// readBody reads a body to its end and returns its size. The capture, unless it
// is nil, keeps as much as it may.
func readBody(body io.Reader, c *http1.Capture) (size int64, err error) {
	for c != nil && c.Room() > 0 && c.Grow(1) {
		n, err := body.Read(c.Body[len(c.Body):min(cap(c.Body), c.MaxBody)])
		c.Body = c.Body[:len(c.Body)+n]
		if err == io.EOF { //nolint:errorlint // as io.Reader has it
			return int64(len(c.Body)), nil
		}
		if err != nil {
			return int64(len(c.Body)), err
		}
	}
	rest, err := io.Copy(io.Discard, body)
	if c != nil {
		rest += int64(len(c.Body))
	}
	return rest, err
}
