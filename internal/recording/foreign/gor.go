// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	// gorSeparator is the line between two payloads.
	gorSeparator = "🐵🙈🙉"

	// maxPayload is the most bytes of a payload. A longer one is left out.
	maxPayload = 64 << 20

	// A request waits for its response for so many others, or so many bytes.
	maxUnanswered      = 4096
	maxUnansweredBytes = 16 << 20

	gorRequest  = 1
	gorResponse = 2
)

var errLongPayload = fmt.Errorf("it is longer than %d MiB", maxPayload>>20)

var gorStart = regexp.MustCompile(`^[123] [0-9A-Za-z_-]+ \d{10,20}( -?\d+)?\r?$`)

func beginsGor(line []byte) bool { return gorStart.Match(line) }

// gor reads GoReplay's payloads: a line with kind, identifier and time, and then
// the message as it was on the wire.
type gor struct {
	lines   lines
	stream  bool
	skips   Skips
	payload []byte
	back    []byte // what was read and comes again
	number  int64
	open    bool // the payload ends with the file, and no separator
	cut     bool // the file ends within something, whose beginning is given

	waiting list.List                  // of *gorRecord, by the order of reading
	byID    map[string][]*list.Element // those that have no response yet; several of one identifier in their order
	bytes   int
	answers bool // there is a response to some request
	end     error
	given   *gorRecord
}

// gorRecord is a request that waits for its response.
type gorRecord struct {
	recording.Copy
	done bool
}

func newGor(r io.Reader, stream bool) Decoder {
	return &gor{lines: newLines(r), stream: stream, byID: make(map[string][]*list.Element)}
}

// Skipped returns the payloads that could not be read.
func (g *gor) Skipped() *Skips { return &g.skips }

// Next returns the next request, with its response if that follows soon enough.
// Those of a stream wait for theirs only once there has been one.
func (g *gor) Next() (*recording.Request, error) {
	for !g.ready() {
		if g.end != nil {
			return nil, g.end
		}
		g.end = g.read()
	}
	first := g.waiting.Front()
	g.given = g.waiting.Remove(first).(*gorRecord)
	if !g.given.done { // it is the first of its identifier, too
		g.unanswered(string(g.given.ID))
	}
	g.bytes -= g.given.Size()
	return &g.given.Request, nil
}

// ready reports whether the first request waits no longer.
func (g *gor) ready() bool {
	first := g.waiting.Front()
	return first != nil && (first.Value.(*gorRecord).done || g.end != nil || g.stream && !g.answers ||
		g.waiting.Len() >= maxUnanswered || g.bytes >= maxUnansweredBytes)
}

// read reads one payload.
func (g *gor) read() error {
	header, err := g.header()
	switch {
	case errors.Is(err, io.EOF) && g.cut:
		return fmt.Errorf("payload %d: %w", max(g.number, 1), errCut)
	case err != nil:
		return err
	}
	g.number++
	err = g.message()
	if err != nil && !errors.Is(err, errCut) && !errors.Is(err, errLongPayload) {
		return err
	}
	if err == nil {
		err = g.take(header)
	}
	switch {
	case errors.Is(err, errCut):
		g.cut = true
	case err != nil:
		g.skips.add("payload", g.number, err)
	}
	return nil
}

// take makes a record of a payload, or joins it to one.
func (g *gor) take(h gorHeader) error {
	switch h.kind {
	case gorRequest:
		return g.request(h)
	case gorResponse:
		return g.response(h)
	}
	return nil // a response to what GoReplay has sent itself
}

func (g *gor) request(h gorHeader) error {
	first, fields, body := cutMessage(g.payload)
	words := bytes.Fields(first)
	if len(words) != 3 || !http1.IsToken(words[0]) || !http1.IsTarget(words[1]) {
		return fmt.Errorf("'%s' is not a request line", shorten(string(first)))
	}
	r := recording.Request{ID: []byte(h.id), Method: words[0], URI: words[1], Proto: words[2], TimeNS: h.time, Headers: fields, Body: body}
	r.BodySize = uint64(max(int64(len(body)), contentLength(fields)))
	if isChunked(fields) {
		var err error
		if r.Body, r.Trailers, err = g.dechunk(body); err != nil {
			return err
		}
		r.BodySize = uint64(len(r.Body))
	}
	for name, value := range recording.EachField(fields) {
		if http1.FieldOf(name) == http1.Host {
			r.Host = value
			break
		}
	}
	record := new(gorRecord)
	record.Take(&r)
	g.bytes += record.Size()
	g.byID[h.id] = append(g.byID[h.id], g.waiting.PushBack(record))
	return nil
}

// unanswered takes the first request of an identifier that has no response off the
// list of them. It returns nil if there is none.
func (g *gor) unanswered(id string) *list.Element {
	all := g.byID[id]
	switch len(all) {
	case 0:
		return nil
	case 1:
		delete(g.byID, id)
	default:
		g.byID[id] = all[1:]
	}
	return all[0]
}

// response joins a response to its request.
func (g *gor) response(h gorHeader) error {
	g.answers = true
	first, fields, body := cutMessage(g.payload)
	words := bytes.Fields(first)
	if len(words) < 2 || !bytes.HasPrefix(words[0], []byte("HTTP/")) {
		return fmt.Errorf("'%s' is not a status line", shorten(string(first)))
	}
	status, err := strconv.Atoi(string(words[1]))
	if err != nil || status < 100 || status > 999 {
		return fmt.Errorf("'%s' is not a status line", shorten(string(first)))
	}
	var trailers []byte
	if isChunked(fields) {
		if body, trailers, err = g.dechunk(body); err != nil {
			return err
		}
	} else if n := contentLength(fields); g.open && n >= 0 && n < int64(len(body)) {
		body = body[:n]
	}
	element := g.unanswered(h.id)
	if element == nil {
		return nil // its request is not here, or was given away
	}
	record := element.Value.(*gorRecord)
	g.bytes -= record.Size()
	request := record.Request
	if g.open && !isChunked(fields) && contentLength(fields) < 0 && http1.HasBody(record.Method, status) {
		g.cut = true // only a separator says where such a body ends
		return nil
	}
	request.Response = &recording.Response{
		Status: status, Headers: fields, Body: body, BodySize: uint64(len(body)), Trailers: trailers,
		DurationNS: max(0, h.time-record.TimeNS),
	}
	if n := contentLength(fields); http1.HasBody(record.Method, status) && n > int64(len(body)) {
		request.Response.BodySize = uint64(n)
		g.cut = g.cut || g.open
	}
	answered := &gorRecord{done: true}
	answered.Take(&request)
	element.Value = answered
	g.bytes += answered.Size()
	return nil
}
