// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Headers are header fields in the order in which they were given.
type Headers []Header

// Header is one field; every value makes a line of its own.
type Header struct {
	Name   string
	Values []string
}

// Add adds a line to the fields.
func (h *Headers) Add(name, value string) {
	for i := range *h {
		if strings.EqualFold((*h)[i].Name, name) {
			(*h)[i].Values = append((*h)[i].Values, value)
			return
		}
	}
	*h = append(*h, Header{name, []string{value}})
}

// Get returns the first value of a field, or nothing.
func (h Headers) Get(name string) string {
	for _, field := range h {
		if strings.EqualFold(field.Name, name) {
			return field.Values[0]
		}
	}
	return ""
}

// Gzip reports whether the fields say that the content is gzipped.
func (h Headers) Gzip() bool { return strings.EqualFold(h.Get("Content-Encoding"), "gzip") }

// MarshalJSON writes an object; a single value is text, several are a list.
func (h Headers) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, field := range h {
		if i > 0 {
			out.WriteByte(',')
		}
		var value any = field.Values
		if len(field.Values) == 1 {
			value = field.Values[0]
		}
		if err := enc.Encode(field.Name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := enc.Encode(value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON reads an object whose values are text or lists of text.
func (h *Headers) UnmarshalJSON(data []byte) error {
	dec, err := open(data, '{', "an object")
	if err != nil {
		return err
	}
	var headers Headers
	seen, lines := make(map[string]bool), 0
	for dec.More() {
		name, value, err := nextField(dec)
		if err != nil {
			return in(name, err)
		}
		if isNull(value) {
			continue
		}
		if lower := strings.ToLower(name); seen[lower] {
			return in(name, errors.New("given twice"))
		} else {
			seen[lower] = true
		}
		values, err := decodeValues(value)
		if err != nil {
			return in(name, err)
		}
		if lines += len(values); lines > mostLines {
			return errTooManyLines
		}
		headers = append(headers, Header{name, values})
	}
	*h = headers
	return nil
}

// Has reports whether a field is among them.
func (h Headers) Has(name string) bool {
	for _, field := range h {
		if strings.EqualFold(field.Name, name) {
			return true
		}
	}
	return false
}

// mostLines is how many lines of a header a recipe or a stage may have.
const mostLines = 1000

var errTooManyLines = fmt.Errorf("more than %d lines", mostLines)

// size returns how much memory the fields of a message take, in bytes.
func (h Headers) size() (total int64) {
	for _, field := range h {
		total += int64(len(field.Name)) + fieldOverhead
		for _, value := range field.Values {
			total += int64(len(value)) + fieldOverhead/4
		}
	}
	return total
}

func decodeValues(data []byte) (values []string, err error) {
	var single string
	if json.Unmarshal(data, &single) == nil {
		return []string{single}, nil
	}
	if json.Unmarshal(data, &values) != nil {
		return nil, fmt.Errorf("expected text or a list of texts, got %s", kind(data))
	}
	if len(values) == 0 {
		return nil, errors.New("has no value")
	}
	return values, nil
}

// validate refuses fields that no message can carry and those that belong to
// the framing of the message.
func (h Headers) validate() error {
	lines := 0
	for _, field := range h {
		if lines += len(field.Values); lines > mostLines {
			return errTooManyLines
		}
		for _, value := range field.Values {
			if err := units.CheckField(field.Name, value); err != nil {
				return in(field.Name, err)
			}
		}
		if kind := http1.FieldOf(field.Name); kind == http1.ContentLength || kind == http1.TransferEncoding || kind == http1.Trailer {
			return in(field.Name, errors.New("cannot be set: it follows from the body"))
		}
		if strings.EqualFold(field.Name, "Content-Encoding") && len(field.Values) > 1 {
			return in(field.Name, errors.New("has more than one value"))
		}
	}
	return nil
}
