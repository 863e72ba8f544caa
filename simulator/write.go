// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
)

// write sends an answer as fast as it goes. That the client leaves meanwhile
// is no fault of the server.
func write(w http.ResponseWriter, r *http.Request, a *answer.Answer) error {
	setFields(w.Header(), a.Response, r.ProtoMajor)
	if a.Content.File != "" {
		return writeFile(w, r, a)
	}
	w.WriteHeader(a.Status)
	if r.Method == http.MethodHead {
		return nil
	}
	for _, part := range a.Content.Parts {
		if _, err := w.Write(part); err != nil { //nolint:gosec // what is served is the recipe's to say
			break
		}
	}
	return nil
}

// setFields sets the header of a message. Handlers around this one may change
// values in place, so each request gets a copy of its own.
func setFields(header http.Header, m *answer.Response, protoMajor int) {
	lines := make([]string, 0, m.Lines+1)
	for _, field := range m.Fields {
		if field.Hop && protoMajor > 1 {
			continue
		}
		first := len(lines)
		lines = append(lines, field.Values...)
		header[field.Name] = lines[first:len(lines):len(lines)]
	}
	if m.Length != "" {
		header["Content-Length"] = append(lines, m.Length)[len(lines):]
	}
}

// writeFile sends an answer whose body is a file, as long as it is now.
func writeFile(w http.ResponseWriter, r *http.Request, a *answer.Answer) error {
	body, size, err := a.Content.Open()
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	defer body.Close()
	w.Header()["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		_, _ = io.CopyN(w, body, size)
	}
	return nil
}
