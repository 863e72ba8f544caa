// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"errors"
)

// member is a field of an object whose order counts.
type member struct {
	name string
	data json.RawMessage
}

// orderedMembers reads an object in the order in which it is written.
func orderedMembers(data json.RawMessage) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("expected an object")
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, member{name.(string), value})
	}
	return members, nil
}
