// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// beginsJSON reports whether a line is an object that one of the forms below may
// have.
func beginsJSON(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte(`{"`)) &&
		(bytes.Contains(line, []byte(`"request":`)) || bytes.Contains(line, []byte(`"method":`)) || bytes.Contains(line, []byte(`"msg":`)))
}

func newJSON(r io.Reader, _ bool) Decoder { return &lineDecoder{lines: newLines(r), parse: parseJSON} }

// parseJSON reads a line of Caddy's access log, a target of vegeta's JSON, or
// what a Writer of JSON lines has written.
func parseJSON(d *draft, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var caddy caddyLine
	err := json.Unmarshal(line, &caddy)
	if err == nil && caddy.Request != nil && caddy.isAccess() {
		return caddy.fill(d)
	}
	var request jsonRequest
	if other := json.Unmarshal(line, &request); other == nil && request.Method != "" {
		return request.fill(d)
	} else if err == nil {
		err = other
	}
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isType:
		return fmt.Errorf("%s is a %s", wrong.Field, wrong.Value)
	case err != nil:
		return fmt.Errorf("it is not JSON: %v", err)
	}
	return errNoRequest
}

// jsonRequest is a request in a line of JSON: what vegeta reads, and beside it what
// else a record has.
type jsonRequest struct {
	Time     time.Time           `json:"time,omitzero"`
	ID       string              `json:"id,omitempty"`
	Method   string              `json:"method"`
	URL      string              `json:"url"`
	Header   map[string][]string `json:"header,omitempty"`
	Body     []byte              `json:"body,omitempty"`
	Fields   [][2]string         `json:"fields,omitempty"`     // in their order; they stand for header
	Raw      []byte              `json:"raw_fields,omitempty"` // lines that are no text; they stand for fields
	BodySize uint64              `json:"body_size,omitempty"`
	Trailers []byte              `json:"trailers,omitempty"`
	Proto    string              `json:"proto,omitempty"`
	Remote   string              `json:"remote,omitempty"`
	Error    string              `json:"error,omitempty"`
	Response *jsonResponse       `json:"response,omitempty"`
}

type jsonResponse struct {
	Status     int         `json:"status"`
	Fields     [][2]string `json:"fields,omitempty"`
	Raw        []byte      `json:"raw_fields,omitempty"`
	Body       []byte      `json:"body,omitempty"`
	BodySize   uint64      `json:"body_size,omitempty"`
	Trailers   []byte      `json:"trailers,omitempty"`
	DurationNS int64       `json:"duration_ns,omitempty"`
	Error      string      `json:"error,omitempty"`
}

func (j *jsonRequest) fill(d *draft) error {
	d.Method = []byte(j.Method)
	if strings.Contains(j.URL, "://") {
		if err := d.setURL(j.URL); err != nil {
			return err
		}
	} else {
		d.URI = []byte(j.URL)
	}
	d.ID, d.Body, d.BodySize, d.Trailers = []byte(j.ID), j.Body, j.BodySize, j.Trailers
	d.Proto, d.Remote, d.Error = []byte(j.Proto), []byte(j.Remote), []byte(j.Error)
	if !j.Time.IsZero() {
		d.TimeNS = j.Time.UnixNano()
	}
	switch {
	case len(j.Raw) > 0:
		for name, value := range recording.EachField(j.Raw) {
			d.field(string(name), string(value))
		}
	case len(j.Fields) > 0:
		for _, f := range j.Fields {
			d.field(f[0], f[1])
		}
	default:
		d.header(j.Header)
	}
	if j.Response == nil {
		return nil
	}
	r := d.answer(j.Response.Status)
	r.Headers, r.Body, r.BodySize, r.Trailers = j.Response.Raw, j.Response.Body, j.Response.BodySize, j.Response.Trailers
	r.DurationNS, r.Error = j.Response.DurationNS, []byte(j.Response.Error)
	for _, f := range j.Response.Fields {
		r.Headers = http1.AppendField(r.Headers, f[0], f[1])
	}
	return nil
}

// header adds fields that are kept by name, in the order of the names.
func (d *draft) header(header map[string][]string) {
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			d.field(name, value)
		}
	}
}
