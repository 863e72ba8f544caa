// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

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
