// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
)

// write sends an answer.
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
			return nil // the client has left, which is no fault of the server
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

// writeFile sends an answer whose body is a file.
func writeFile(w http.ResponseWriter, r *http.Request, a *answer.Answer) error {
	file, err := os.Open(a.Content.File) //nolint:gosec // the configuration names it
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	w.Header()["Content-Length"] = []string{strconv.FormatInt(info.Size(), 10)}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		_, _ = io.CopyN(w, file, info.Size()) // fails when the client has left
	}
	return nil
}
