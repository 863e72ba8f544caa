// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/base64"
	"encoding/json"
)

func (r *response) parseBody(f *fields, from origin, t templating) error {
	given := ""
	for _, kind := range []string{"body", "jsonBody", "base64Body", "bodyFileName"} {
		data, ok := f.take(kind)
		if !ok {
			continue
		}
		if given != "" {
			return f.errorf(kind, "there is %s already", given)
		}
		given = kind
		body, err := readBody(kind, data, from)
		if err != nil {
			return f.located(kind, err)
		}
		r.answer.Body = body
		if kind == "base64Body" || kind == "bodyFileName" && t.plainFiles {
			continue
		}
		if r.body, err = t.parse(string(body)); err != nil {
			return f.located(kind, err)
		}
	}
	return nil
}

func readBody(kind string, data json.RawMessage, from origin) ([]byte, error) {
	if kind == "jsonBody" {
		return compact(data), nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return nil, plain(err)
	}
	switch kind {
	case "base64Body":
		return base64.StdEncoding.DecodeString(text)
	case "bodyFileName":
		return from.readFile(text)
	}
	return []byte(text), nil
}
