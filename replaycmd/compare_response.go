// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// responseOf returns the response of an exchange, or why there is none that
// could be compared, as without the base path of its target. One that did not
// come, or not whole, is a response with an error.
func responseOf(x *exchange, base string) (r compare.Response, reason string) {
	r = compare.Response{
		Status: x.status, Header: withoutBase(fieldLines(x.response.Head), base), Trailer: x.response.Trailers,
		Body: x.response.Body, BodySize: x.bodySize, Time: x.started, Duration: x.ended.Sub(x.started),
	}
	switch {
	case x.response.Refused:
		return r, pairs.Shed
	case x.err == nil:
		return r, ""
	}
	kind := http1.KindOf(x.err)
	switch kind { //nolint:exhaustive // any other has failed at the target
	case http1.Interrupted:
		return r, reasonInterrupted
	case http1.Unsendable:
		return r, reasonUnsendable
	}
	r.Error = kind.String()
	return r, ""
}

// fieldLines returns the fields of a head, without the line above them and the
// empty one below.
func fieldLines(head []byte) []byte {
	_, fields, _ := bytes.Cut(head, []byte("\n"))
	return bytes.TrimSuffix(fields, []byte("\r\n"))
}

// handInRecorded hands in the response that a record has.
func handInRecorded(x *pairs.Exchange, record *recording.Request) {
	r := record.Response
	if r == nil {
		x.Fail(pairs.Old, reasonNoRecorded)
		return
	}
	x.Respond(pairs.Old, recordedResponse(record))
}

func recordedResponse(record *recording.Request) *compare.Response {
	r := record.Response
	response := &compare.Response{
		Status: r.Status, Header: r.Headers, Trailer: r.Trailers, Body: r.Body, BodySize: int64(r.BodySize),
		Time: time.Unix(0, record.TimeNS), Duration: time.Duration(r.DurationNS),
	}
	if len(r.Error) > 0 {
		response.Error = brokenOff
	}
	return response
}

// brokenOff is the error of any response that has one, where recorded ones are
// compared.
const brokenOff = "broken off"

// withoutBase returns the fields of an answer with the base path of its target
// taken out of where it leads to: as a target that has none would answer.
func withoutBase(fields []byte, base string) []byte {
	if base == "" {
		return fields
	}
	var without []byte
	found := false
	for name, value := range recording.EachField(fields) {
		if bytes.EqualFold(name, []byte("Location")) {
			location := pathWithoutBase(string(value), base)
			found = found || location != string(value)
			value = []byte(location)
		}
		without = http1.AppendField(without, name, value)
	}
	if !found {
		return fields
	}
	return without
}

// pathWithoutBase takes a base path out of a URL or the path of one.
func pathWithoutBase(location, base string) string {
	path := location
	if _, rest, ok := strings.Cut(location, "://"); ok {
		at := strings.IndexByte(rest, '/')
		if at < 0 {
			return location
		}
		path = rest[at:]
	}
	rest, ok := strings.CutPrefix(path, base)
	switch {
	case !ok || rest != "" && strings.IndexByte("/?#", rest[0]) < 0:
		return location
	case rest == "" || rest[0] != '/':
		rest = "/" + rest
	}
	return location[:len(location)-len(path)] + rest
}
