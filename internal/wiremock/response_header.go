// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/net/http/httpguts"
)

func (r *response) parseHeaders(f *fields, t templating) error {
	data, given := f.take("headers")
	if !given {
		return nil
	}
	members, err := orderedMembers(data)
	if err != nil {
		return f.located("headers", err)
	}
	for _, m := range members {
		values, err := oneOrMore(m.data)
		if err != nil {
			return f.errorf("headers."+m.name, "%w", err)
		}
		for _, value := range values {
			if err := r.addHeader(m.name, value, t); err != nil {
				return f.errorf("headers."+m.name, "%w", err)
			}
		}
	}
	return nil
}

func (r *response) addHeader(name, value string, t templating) error {
	compiled, err := t.parse(value)
	switch {
	case err != nil:
		return err
	case !httpguts.ValidHeaderFieldName(name):
		return errors.New("no header field can have this name")
	case compiled == nil && !httpguts.ValidHeaderFieldValue(value):
		return errors.New("no header field can have this value")
	case slices.Contains(framing, http.CanonicalHeaderKey(name)):
		return nil
	case compiled != nil:
		r.headers = append(r.headers, headerTemplate{len(r.answer.Header), compiled})
	}
	r.answer.Header = append(r.answer.Header, Field{http.CanonicalHeaderKey(name), value})
	return nil
}

// framing is how a message is cut, which is the server's to say.
var framing = []string{"Content-Length", "Transfer-Encoding", "Connection"}

// oneOrMore reads a text or a list of texts.
func oneOrMore(data json.RawMessage) ([]string, error) {
	var many []string
	if json.Unmarshal(data, &many) == nil && many != nil {
		return many, nil
	}
	var one any
	if err := json.Unmarshal(data, &one); err != nil {
		return nil, err
	}
	switch one := one.(type) {
	case string:
		return []string{one}, nil
	case float64, bool:
		return []string{string(data)}, nil
	}
	return nil, fmt.Errorf("expected a text or a list of texts")
}
