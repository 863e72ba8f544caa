// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// write sends an answer from memory, as fast as it goes. That the client leaves
// meanwhile is no fault of the server.
func write(w http.ResponseWriter, r *http.Request, a *response.Response) error {
	setFields(w.Header(), a.Message, r.ProtoMajor)
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
func setFields(header http.Header, m *response.Message, protoMajor int) {
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
