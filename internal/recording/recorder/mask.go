// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"strings"
)

// Mask leaves values out of requests and responses that are kept elsewhere than
// in a recording, as the options of the same names do.
type Mask struct{ *redaction }

// NewMask returns a mask for fields of the header, parameters, and places in JSON.
// The error is that of a place which is none.
func NewMask(redact, redactQuery, redactJSON []string) (*Mask, error) {
	r, err := newRedaction(&Options{Redact: redact, RedactQuery: redactQuery, RedactJSON: redactJSON})
	return &Mask{r}, err
}

// Field returns what is kept of a header field's value.
func (m *Mask) Field(name, value string) string { return m.value(name, value) }

// Target returns what is kept of a target or URL.
func (m *Mask) Target(uri string) string { return string(m.target([]byte(uri))) }

// Body returns what is kept of a body with a Content-Type and any values of
// Content-Encoding: of one that is packed nothing, if something may have to be left
// out of it.
func (m *Mask) Body(codings []string, kind string, body []byte) []byte {
	if len(body) == 0 || len(m.query) == 0 && m.places.none() {
		return body
	}
	for _, coding := range codings {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return nil
		}
	}
	kind = strings.ToLower(kind)
	start := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case !m.places.none() && (strings.Contains(kind, "json") || len(start) > 0 && (start[0] == '{' || start[0] == '[')):
		without, _ := redactJSON(body, m.places)
		return without
	case strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		return m.parameters(body)
	}
	return body
}
