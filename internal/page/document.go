// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package page is what the pages have in common that people watch a handler on:
// their look, their scripts, how they are served, and which requests of browsers
// may change anything. What they load is embedded, and nothing is from elsewhere.
package page

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// Send answers with a document, whose type browsers are to take as it is. That
// the client has left is no error.
func Send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// SendJSON answers with a value, whose encoding cannot fail.
func SendJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	Send(w, status, "application/json; charset=utf-8", body)
}

// SendError answers with an error, as {"error": text}.
func SendError(w http.ResponseWriter, status int, err error) {
	SendJSON(w, status, map[string]string{"error": err.Error()})
}
