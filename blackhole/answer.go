// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// answer is what every request gets, ready to be written.
type answer struct {
	status int
	fields []field
	values []string // of all fields
	body   []byte

	express express.Fields // the same for connections that were taken over
}

// field is a header field of which so many values come next.
type field struct {
	name   string
	values int
}

func newAnswer(status int, header http.Header, body string) (answer, error) {
	if status == 0 {
		status = http.StatusOK
	}
	if _, err := parseStatus(strconv.Itoa(status)); err != nil {
		return answer{}, fmt.Errorf("status: %v", err)
	}
	a := answer{status: status, body: []byte(body)}
	fields := make(http.Header)
	for name, values := range header {
		for _, value := range values {
			if err := cmp.Or(refuseFraming(name), units.CheckField(name, value)); err != nil {
				return answer{}, fmt.Errorf("headers: %v", err)
			}
			fields.Add(name, value)
		}
	}
	if !hasBody(status) {
		a.body = nil
	}
	if len(a.body) > 0 {
		fields.Set("Content-Length", strconv.Itoa(len(a.body)))
		if fields["Content-Type"] == nil {
			fields.Set("Content-Type", "text/plain; charset=utf-8")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		a.fields = append(a.fields, field{name, len(fields[name])})
		a.values = append(a.values, fields[name]...)
		for _, value := range fields[name] {
			a.express.Add(name, value)
		}
	}
	return a, nil
}

// refuseFraming refuses a field that the server sets.
func refuseFraming(name string) error {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Length", "Transfer-Encoding", "Connection", "Trailer":
		return fmt.Errorf("%s is set by the server", name)
	}
	return nil
}

func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusResetContent && status != http.StatusNotModified
}

func (a *answer) write(w http.ResponseWriter, r *http.Request) error {
	header := w.Header()
	values := slices.Clone(a.values) // handlers around this one may change them in place
	for _, f := range a.fields {
		header[f.name] = values[:f.values:f.values]
		values = values[f.values:]
	}
	if r.Method == http.MethodConnect && r.ProtoMajor == 1 {
		header.Set("Connection", "close") // what comes next on it is meant for a tunnel
		header.Del("Content-Length")      // an answer to CONNECT has no body
	}
	w.WriteHeader(a.status)
	if len(a.body) == 0 || r.Method == http.MethodHead || r.Method == http.MethodConnect {
		return nil
	}
	_, _ = w.Write(a.body) // fails if the client left, which is no fault of this side
	return nil
}
