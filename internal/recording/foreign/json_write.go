// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"io"
	"time"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

type jsonWriter struct {
	w      io.Writer
	losses Losses
}

func newJSONWriter(w io.Writer) *jsonWriter { return &jsonWriter{w: w, losses: make(Losses)} }

// Losses returns what a line has no place for.
func (j *jsonWriter) Losses() Losses { return j.losses }

// Write writes a line.
func (j *jsonWriter) Write(r *recording.Request) error {
	url, ok := absolute(r, false, j.losses)
	if !ok {
		return nil
	}
	j.losses.add(!utf8.Valid(r.ID), "identifiers have bytes that are no text")
	line := jsonRequest{
		ID: string(r.ID), Method: string(r.Method), URL: url, Body: r.Body, Trailers: r.Trailers,
		Proto: string(r.Proto), Remote: string(r.Remote), Error: string(r.Error),
	}
	if r.TimeNS != 0 {
		line.Time = time.Unix(0, r.TimeNS).UTC()
	}
	if r.Truncated() {
		line.BodySize = r.BodySize
	}
	line.Fields, line.Raw = jsonFields(r.Headers)
	for name, value := range recording.EachField(r.Headers) {
		if http1.FieldOf(name) == http1.Host {
			continue // vegeta takes it from the URL
		}
		if line.Header == nil {
			line.Header = make(map[string][]string)
		}
		line.Header[string(name)] = append(line.Header[string(name)], string(value))
	}
	if a := r.Response; a != nil {
		line.Response = &jsonResponse{Status: a.Status, Body: a.Body, Trailers: a.Trailers, DurationNS: a.DurationNS, Error: string(a.Error)}
		line.Response.Fields, line.Response.Raw = jsonFields(a.Headers)
		if a.Truncated() {
			line.Response.BodySize = a.BodySize
		}
	}
	data, err := jsonOf(&line)
	if err != nil {
		return err
	}
	_, err = j.w.Write(data)
	return err
}

// Close does nothing: the form has no end.
func (*jsonWriter) Close() error { return nil }

// jsonFields returns header fields by name, or, where that would change a byte of
// them, their lines.
func jsonFields(lines []byte) (fields [][2]string, raw []byte) {
	var again []byte
	for name, value := range recording.EachField(lines) {
		fields = append(fields, [2]string{string(name), string(value)})
		again = http1.AppendField(again, name, value)
	}
	if !utf8.Valid(lines) || !bytes.Equal(again, lines) {
		return nil, lines
	}
	return fields, nil
}
