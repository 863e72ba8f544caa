// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package reply writes a response.Message as the response to a request, through
// Caddy's http.ResponseWriter or on a connection that was taken over.
package reply

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// Write sends a message whose content is in memory. That the client has left is
// no error.
func Write(w http.ResponseWriter, r *http.Request, m *response.Message) {
	SetHeader(w.Header(), m, r.ProtoMajor)
	w.WriteHeader(m.Status)
	if r.Method == http.MethodHead {
		return
	}
	for _, part := range m.Content.Parts {
		if _, err := w.Write(part); err != nil { //nolint:gosec // what is served is the configuration's to say
			return
		}
	}
}

// SetHeader sets the header of a message. Handlers around this one may change
// values in place, so each request gets a copy of its own.
//
//go:noinline
func SetHeader(header http.Header, m *response.Message, protoMajor int) {
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

// Express sends a message whose content is in memory on a connection that was
// taken over.
func Express(x *express.Exchange, m *response.Message) {
	if m.Content.Memory != nil {
		x.RespondFrom(m.Status, Fields(x, m), m.Content.Memory, int(m.Content.Size))
	} else {
		x.Respond(m.Status, Fields(x, m), m.Content.Parts...)
	}
}

// Fields returns the header fields of a message for an exchange on a connection that
// was taken over. Those of a message that many requests get are made once.
func Fields(x *express.Exchange, m *response.Message) *express.Fields {
	if m.Single {
		fields := x.OwnFields()
		fill(fields, m)
		return fields
	}
	return m.Wire(encode).(*express.Fields)
}

func encode(m *response.Message) any {
	all := new(express.Fields)
	fill(all, m)
	return all
}

func fill(all *express.Fields, m *response.Message) {
	all.Reason = m.Reason
	for _, field := range m.Fields {
		for _, value := range field.Values {
			all.Add(field.Name, value)
		}
	}
}

// ExpressError responds to a request that failed with the status of its error
// and no body, as Caddy does.
func ExpressError(x *express.Exchange, err error) {
	status := http.StatusInternalServerError
	if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		status = failed.StatusCode
	}
	x.Respond(status, nil)
}
