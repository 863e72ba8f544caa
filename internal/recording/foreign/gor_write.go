// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

type gorWriter struct {
	w       io.Writer
	losses  Losses
	written int64
	out     []byte
}

// Losses returns what GoReplay's form has no place for.
func (g *gorWriter) Losses() Losses { return g.losses }

// Write writes a request, and its response.
func (g *gorWriter) Write(r *recording.Request) error {
	g.written++
	g.losses.add(string(r.Scheme) == "https", "requests came over TLS, which the form does not say")
	g.losses.add(len(r.Error) > 0, "requests had not come whole")
	g.losses.add(r.TimeNS == 0, "requests had no time, and got one")
	id := r.ID
	if !gorID(id) {
		g.losses.add(len(id) > 0, "identifiers had bytes that the form cannot hold")
		id = fmt.Appendf(nil, "%024x", g.written)
	}
	at := r.TimeNS
	if at <= 0 {
		at = 1e18 + g.written
	}
	g.out = fmt.Appendf(g.out[:0], "%d %s %d 0\n%s %s HTTP/1.1\r\n", gorRequest, id, at, r.Method, r.URI)
	g.message(r.Headers, r.Body, r.Trailers, "requests")
	if a := r.Response; a != nil && a.Status >= 100 {
		g.losses.add(len(a.Error) > 0, "answers had not come whole")
		g.out = fmt.Appendf(g.out, "%d %s %d %d\nHTTP/1.1 %d \r\n", gorResponse, id, at+a.DurationNS, a.DurationNS, a.Status)
		g.message(a.Headers, a.Body, a.Trailers, "answers")
	}
	_, err := g.w.Write(g.out)
	return err
}

// message adds header and body as they were on the wire, but in one chunk.
func (g *gorWriter) message(fields, body, trailers []byte, of string) {
	g.out = append(append(g.out, fields...), "\r\n"...)
	chunked := isChunked(fields)
	g.losses.add(!chunked && len(trailers) > 0, of+" had trailers")
	g.losses.add(bytes.Contains(body, []byte("\n"+gorSeparator)) && contentLength(fields) < 0, of+" have the form's separator in their body")
	if !chunked {
		g.out = append(g.out, body...)
	} else {
		if len(body) > 0 {
			g.out = append(append(fmt.Appendf(g.out, "%x\r\n", len(body)), body...), "\r\n"...)
		}
		g.out = append(append(append(g.out, "0\r\n"...), trailers...), "\r\n"...)
	}
	g.out = append(append(append(g.out, '\n'), gorSeparator...), '\n')
}

// Close does nothing: the form has no end.
func (*gorWriter) Close() error { return nil }

// gorID reports whether the form can hold an identifier.
func gorID(id []byte) bool {
	return len(id) > 0 && bytes.IndexFunc(id, func(r rune) bool { return !strings.ContainsRune(gorIDRunes, r) }) < 0
}

const gorIDRunes = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
