// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Status is a status code like `304`, or a class like `2xx`, which is a single
// digit as a number.
type Status int

// UnmarshalText reads a status or a class.
func (s *Status) UnmarshalText(text []byte) error {
	if len(text) == 3 {
		if text[0] >= '1' && text[0] <= '5' && string(text[1:]) == "xx" {
			*s = Status(text[0] - '0')
			return nil
		}
		if n, err := strconv.Atoi(string(text)); err == nil && n >= 100 && n < 600 {
			*s = Status(n)
			return nil
		}
	}
	return fmt.Errorf("'%s' is not a status: expected one like 304 or a class like 2xx", text)
}

// UnmarshalJSON reads a status or a class from text or a number.
func (s *Status) UnmarshalJSON(data []byte) error {
	var n int
	if json.Unmarshal(data, &n) == nil {
		if n < 1 || n > 5 && n < 100 || n > 599 {
			return fmt.Errorf("%d is not a status", n)
		}
		*s = Status(n)
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return s.UnmarshalText([]byte(text))
}

// MarshalJSON writes a class as text and a status as a number.
func (s Status) MarshalJSON() ([]byte, error) {
	if s < 10 {
		return fmt.Appendf(nil, `"%dxx"`, int(s)), nil
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// wanted reports whether a request with this response is to be copied.
func (h *Handler) wanted(status int) bool {
	for _, s := range h.OnlyStatus {
		if caddyhttp.StatusCodeMatches(status, int(s)) {
			return true
		}
	}
	return len(h.OnlyStatus) == 0
}

// statusWriter passes a response on and remembers its status.
type statusWriter struct {
	*caddyhttp.ResponseWriterWrapper
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriterWrapper.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	w.implicit()
	return w.ResponseWriterWrapper.Write(p)
}

func (w *statusWriter) ReadFrom(r io.Reader) (int64, error) {
	w.implicit()
	return w.ResponseWriterWrapper.ReadFrom(r)
}

func (w *statusWriter) FlushError() error {
	w.implicit()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// implicit is what a handler without a status means.
func (w *statusWriter) implicit() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

// final returns the status of a response after the primary returned err. Nothing
// written means that the error routes answer, or an empty 200.
func (w *statusWriter) final(err error) int {
	if w.status == 0 && err != nil {
		if handlerErr, ok := errors.AsType[caddyhttp.HandlerError](err); ok && handlerErr.StatusCode != 0 {
			return handlerErr.StatusCode
		}
		return http.StatusInternalServerError
	}
	w.implicit()
	return w.status
}
