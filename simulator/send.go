// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// problem is the JSON of an error.
type problem struct {
	Error string `json:"error"`
	Field string `json:"field,omitempty"`
}

func problemOf(err error) problem {
	p := problem{Error: err.Error()}
	if field, ok := errors.AsType[*recipe.FieldError](err); ok {
		p.Field = field.Field
	}
	return p
}

func sendError(w http.ResponseWriter, status int, err error) error {
	return sendJSON(w, status, problemOf(err))
}

// sendJSON leaves the angle brackets of recipes as they were posted.
func sendJSON(w http.ResponseWriter, status int, value any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	page.Send(w, status, "application/json; charset=utf-8", bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	return nil
}

func sendText(w http.ResponseWriter, status int, text string) error {
	page.Send(w, status, "text/plain; charset=utf-8", []byte(text))
	return nil
}
