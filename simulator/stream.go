// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// stream sends an answer whose body is a file, as long as it is now, or takes
// its time.
func stream(w http.ResponseWriter, r *http.Request, a *response.Response) error {
	body, size, err := a.Content.Open()
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	defer body.Close()
	setFields(w.Header(), a.Message, r.ProtoMajor)
	if a.Content.File != "" {
		w.Header()["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	}
	w.WriteHeader(a.Status)
	if r.Method == http.MethodHead {
		return nil
	}
	client := http.NewResponseController(w)
	begun := time.Now()
	plan := a.Pace.Plan(size)
	for {
		due, n, more := plan.Next(time.Since(begun))
		if !more {
			return nil
		}
		if wait := due - time.Since(begun); wait > 0 {
			if client.Flush() != nil || sleep(r.Context(), wait) != nil {
				return nil // the client has left
			}
		}
		if _, err := io.CopyN(w, body, n); err != nil {
			return nil
		}
	}
}
