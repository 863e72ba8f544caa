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

// gorHeader is the first line of a payload.
type gorHeader struct {
	kind int
	id   string
	time int64
}

// header reads the line before a message.
func (g *gor) header() (gorHeader, error) {
	for {
		line, err := g.raw()
		ended := bytes.HasSuffix(line, []byte("\n"))
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case err != nil:
			return gorHeader{}, err
		case len(line) == 0 || string(line) == gorSeparator:
			continue
		}
		words := bytes.Fields(line)
		if !gorStart.Match(line) {
			if !ended && g.atEnd() {
				g.number++
				g.cut = true
				return gorHeader{}, io.EOF
			}
			g.skips.add("line", g.lines.number, fmt.Errorf("'%s' is no header of a payload", shorten(string(line))))
			continue
		}
		at, err := strconv.ParseInt(string(words[2]), 10, 64)
		if err != nil {
			at = 0
		}
		return gorHeader{int(words[0][0] - '0'), string(words[1]), at}, nil
	}
}

// atEnd reports whether all of the file has been taken.
func (g *gor) atEnd() bool {
	_, err := g.lines.r.Peek(1)
	return errors.Is(err, io.EOF) && len(g.back) == 0
}

// A message goes on behind a separator only up to so many of them, and so many
// bytes: a length may be that of a body that was cut.
const (
	maxInside      = 64
	maxInsideBytes = 4 << 20
)

// message reads a message up to the separator that ends it. Where the header
// says how long the body is, the separator at its end does; if there is none,
// the body was cut, and the first one ends it.
func (g *gor) message() error {
	if cap(g.payload) > maxLineKept {
		g.payload = nil
	}
	g.payload, g.open = g.payload[:0], false
	body, want, first, inside := 0, -1, -1, 0
	for headed := false; ; {
		line, err := g.raw()
		switch {
		case errors.Is(err, io.EOF) && first >= 0:
			return g.cutAt(first)
		case errors.Is(err, io.EOF) && !headed:
			return errCut
		case errors.Is(err, io.EOF):
			return g.last(body, want)
		case err != nil:
			return err
		}
		if string(bytes.TrimRight(line, "\r\n")) == gorSeparator && len(g.payload) > 0 {
			end := len(g.payload) - 1 // its line end belongs to the separator
			switch {
			case want < 0 || end == want || end > want && first < 0:
				g.payload = g.payload[:end]
				return nil
			case first < 0:
				first = len(g.payload)
			}
			inside++
		}
		if first >= 0 && (len(g.payload) > want || inside > maxInside || len(g.payload)-first > maxInsideBytes) {
			g.payload = append(g.payload, line...)
			return g.cutAt(first)
		}
		if len(g.payload)+len(line) > maxPayload {
			return g.skip()
		}
		g.payload = append(g.payload, line...)
		if !headed && len(bytes.TrimRight(line, "\r\n")) == 0 && line[len(line)-1] == '\n' && len(g.payload) > 2 {
			headed, body = true, len(g.payload)
			if n := contentLength(g.payload); n >= 0 && n < maxPayload && !g.isResponse() {
				want = len(g.payload) + int(n)
			}
		}
	}
}

// cutAt ends the message before the separator at a place. What was read behind
// comes again.
func (g *gor) cutAt(separator int) error {
	g.back = append(bytes.Clone(g.payload[separator:]), g.back...)
	g.payload = g.payload[:separator-1]
	return nil
}

// isResponse reports whether the message is a response, whose length may be one
// without a body: it may be to HEAD.
func (g *gor) isResponse() bool { return bytes.HasPrefix(g.payload, []byte("HTTP/")) }

// last takes the last message, whose separator is missing or cut: its body begins
// at a place, and ends at another unless that is less.
func (g *gor) last(body, want int) error {
	if want > len(g.payload) {
		return errCut
	}
	const end = "\n" + gorSeparator
	begun := min(len(g.payload)-max(body, want), len(end)-1)
	for ; begun > 0 && !bytes.HasSuffix(g.payload, []byte(end[:begun])); begun-- {
	}
	if begun == 1 && len(g.payload) > body+1 { // the line end may be the body's own
		begun = 0
	}
	g.open, g.cut = begun <= 1, begun > 1
	g.payload = g.payload[:len(g.payload)-begun]
	if want >= 0 {
		g.payload = g.payload[:want]
	}
	return nil
}

// raw returns the next part of a message: a line with its end, or what of it fits
// into the reader's memory.
func (g *gor) raw() ([]byte, error) {
	if len(g.back) > 0 {
		line, rest := g.back, []byte(nil)
		if end := bytes.IndexByte(g.back, '\n'); end >= 0 {
			line, rest = g.back[:end+1], g.back[end+1:]
		}
		g.back = rest
		return line, nil
	}
	part, err := g.lines.r.ReadSlice('\n')
	if len(part) > 0 {
		if err == nil {
			g.lines.number++
		}
		return part, nil
	}
	return nil, err
}

// skip reads on to the next separator.
func (g *gor) skip() error {
	for {
		line, err := g.raw()
		switch {
		case errors.Is(err, io.EOF), string(bytes.TrimRight(line, "\r\n")) == gorSeparator:
			return errLongPayload
		case err != nil:
			return err
		}
	}
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

// cutMessage cuts a message into its first line, its header and its body.
func cutMessage(message []byte) (first, fields, body []byte) {
	first, rest, _ := bytes.Cut(message, []byte("\n"))
	first = bytes.TrimRight(first, "\r")
	for at := 0; at < len(rest); {
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			return first, rest, nil
		}
		line := rest[at : at+end+1]
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return first, rest[:at], rest[at+end+1:]
		}
		at += end + 1
	}
	return first, rest, nil
}

// dechunk takes the chunks of a body apart. The last may be missing, but not where
// the file ends.
func (g *gor) dechunk(data []byte) (body, trailers []byte, err error) {
	for {
		line, rest, found := bytes.Cut(data, []byte("\n"))
		switch {
		case !found && g.open:
			return nil, nil, errCut
		case !found:
			return body, nil, nil
		}
		size, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(";"))
		n, err := strconv.ParseUint(string(size), 16, 32)
		if err != nil {
			return nil, nil, fmt.Errorf("'%s' is not the size of a chunk", shorten(string(line)))
		}
		switch {
		case g.open && (n >= uint64(len(rest)) || n == 0 && !hasEmptyLine(rest)):
			return nil, nil, errCut
		case n == 0:
			trailers, _, _ = bytes.Cut(rest, []byte("\r\n\r\n"))
			trailers = bytes.TrimRight(trailers, "\r\n")
			if len(trailers) > 0 {
				trailers = append(bytes.Clone(trailers), "\r\n"...)
			}
			return body, trailers, nil
		case n >= uint64(len(rest)):
			return append(body, rest...), nil, nil
		}
		body = append(body, rest[:n]...)
		data = bytes.TrimPrefix(bytes.TrimPrefix(rest[n:], []byte("\r")), []byte("\n"))
	}
}

// hasEmptyLine reports whether trailers end: with an empty line, before which there
// may be none.
func hasEmptyLine(trailers []byte) bool {
	return bytes.HasPrefix(trailers, []byte("\r\n")) || bytes.HasPrefix(trailers, []byte("\n")) || bytes.Contains(trailers, []byte("\n\r\n"))
}
