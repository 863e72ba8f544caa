// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// part is what is shown of a record.
type part string

// The parts.
const (
	partRequest  part = "request"
	partResponse part = "response"
	partBoth     part = "both"
)

func parsePart(text string) (part, error) {
	switch p := part(text); p {
	case partRequest, partResponse, partBoth:
		return p, nil
	}
	return "", fmt.Errorf("'%s' is not valid: expected request, response or both", text)
}

// side is a request or a response.
type side struct {
	line                    string
	headers, body, trailers []byte
	missing                 []byte // why it is not whole
}

// sides returns what is asked for of a record. A response that is asked for
// alone has to be there.
func (p part) sides(r *recording.Request) ([]side, error) {
	var sides []side
	if p != partResponse {
		sides = append(sides, requestSide(r))
	}
	if p != partRequest && r.Response != nil {
		sides = append(sides, responseSide(r))
	}
	switch {
	case len(sides) == 0:
		return nil, fmt.Errorf("record %s has no response", r.ID)
	case p == partResponse && r.Response.Status == 0:
		return nil, fmt.Errorf("record %s has no response: %s", r.ID, r.Response.Error)
	}
	return sides, nil
}

func requestSide(r *recording.Request) side {
	line := fmt.Sprintf("%s %s %s", r.Method, r.URI, proto(r))
	return side{line, r.Headers, r.Body, r.Trailers, r.Error}
}

func responseSide(r *recording.Request) side {
	line := fmt.Sprintf("%s %d %s", proto(r), r.Response.Status, http.StatusText(r.Response.Status))
	if r.Response.Status == 0 {
		line = "(no response)"
	}
	return side{line, r.Response.Headers, r.Response.Body, r.Response.Trailers, r.Response.Error}
}

// proto returns the version of HTTP that a request came in, if that was recorded.
func proto(r *recording.Request) []byte {
	if len(r.Proto) == 0 {
		return []byte("HTTP/1.1")
	}
	return r.Proto
}

// whole returns what shows one record.
func (v *viewing) whole(w *bufio.Writer, onTerminal bool) func(*recording.Request) error {
	shown, show := v.part, (*side).write
	switch {
	case v.body:
		show = func(s *side, w *bufio.Writer) error { _, err := w.Write(s.body); return err }
	case onTerminal:
		show = func(s *side, w *bufio.Writer) error { return s.print(report.Escaping(w)) }
	}
	switch {
	case shown != "":
	case onTerminal:
		shown = partBoth
	default:
		shown = partRequest
	}
	return func(r *recording.Request) error {
		sides, err := shown.sides(r)
		if err != nil {
			return err
		}
		for i := range sides {
			if i > 0 {
				fmt.Fprint(w, "\r\n") //nolint:errcheck // a Writer keeps its error
			}
			if err := show(&sides[i], w); err != nil {
				return err
			}
		}
		return nil
	}
}

// write writes a side as it was recorded, byte for byte: its head, the body out
// of its chunks, and its trailers behind a line break.
func (s *side) write(w *bufio.Writer) error {
	fmt.Fprintf(w, "%s\r\n%s", s.line, s.headers) //nolint:errcheck // a Writer keeps its error
	if len(s.headers) > 0 && !bytes.HasSuffix(s.headers, []byte("\n")) {
		fmt.Fprint(w, "\r\n") //nolint:errcheck // a Writer keeps its error
	}
	fmt.Fprint(w, "\r\n") //nolint:errcheck // a Writer keeps its error
	_, err := w.Write(s.body)
	if len(s.trailers) > 0 {
		_, err = fmt.Fprintf(w, "\r\n%s", s.trailers)
	}
	return err
}

// print leaves out a body that a terminal can't show.
func (s *side) print(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", report.Escape(s.line))
	printFields(w, s.headers)
	_, err := fmt.Fprintln(w)
	switch {
	case len(s.body) == 0:
	case isText(s.body):
		fmt.Fprintf(w, "%s\n", bytes.ReplaceAll(s.body, []byte("\r\n"), []byte("\n")))
	default:
		fmt.Fprintf(w, "(%d bytes that are not text: send the output to a file to see them)\n", len(s.body))
	}
	printFields(w, s.trailers)
	if len(s.missing) > 0 {
		fmt.Fprintf(w, "(not whole: %s)\n", report.Escape(string(s.missing)))
	}
	return err
}

func printFields(w io.Writer, fields []byte) {
	for name, value := range recording.EachField(fields) {
		fmt.Fprintf(w, "%s: %s\n", report.Escape(string(name)), report.Escape(string(value)))
	}
}

func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range string(b) {
		if !unicode.IsPrint(c) && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
