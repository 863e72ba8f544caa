// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
)

// splitFile gives the mappings of a file.
func splitFile(data []byte) (list []json.RawMessage, isList bool, err error) {
	if !json.Valid(data) {
		var anything any
		return nil, false, json.Unmarshal(data, &anything)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		list, err = elements("", data)
		return list, true, err
	}
	f, err := newFields("", data)
	if err != nil {
		return nil, false, err
	}
	inner, isList := f.take("mappings")
	if !isList {
		return []json.RawMessage{data}, false, nil
	}
	f.take("meta")
	if list, err = elements("mappings", inner); err != nil {
		return nil, true, err
	}
	return list, true, f.done()
}
