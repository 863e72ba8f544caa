// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"encoding/json"
	"fmt"
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
