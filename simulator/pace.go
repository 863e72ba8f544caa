// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
)

// writePaced sends an answer whose body takes its time. The header goes first,
// by itself.
func writePaced(w http.ResponseWriter, r *http.Request, a *answer.Answer) error {
	body, size, err := a.Content.Open()
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	defer body.Close()
	setFields(w.Header(), a.Response, r.ProtoMajor)
	w.Header()["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	w.WriteHeader(a.Status)
	if r.Method == http.MethodHead {
		return nil
	}
	client := http.NewResponseController(w)
	begun := time.Now()
	plan := a.Pace.Plan(size)
	for {
		if err := client.Flush(); err != nil {
			return nil // the client has left
		}
		due, n, more := plan.Next()
		if !more {
			return nil
		}
		if err := sleep(r.Context(), due-time.Since(begun)); err != nil {
			return nil // the client has left
		}
		if _, err := io.CopyN(w, body, n); err != nil {
			return nil
		}
	}
}
