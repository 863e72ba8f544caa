// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"slices"
)

// MarshalJSON writes a recipe as it was read, and with a route in any case.
func (r Recipe) MarshalJSON() ([]byte, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(r.written, &fields) != nil {
		return r.encode()
	}
	route, given := fields["route"]
	if !given {
		route, err := encode(map[string]string{"route": r.Route})
		return slices.Concat(route[:len(route)-1], []byte(","), bytes.TrimSpace(r.written)[1:]), err
	}
	if string(route) == "null" || string(route) == `""` {
		return r.encode()
	}
	return r.written, nil
}

// encode writes a recipe from its options.
func (r Recipe) encode() ([]byte, error) {
	type plain Recipe
	return encode(plain(r))
}

// encode leaves the angle brackets of holes as they are.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

// written is an outcome as origin_simulator has a stage: no latency is 0.
type written struct {
	plainOutcome
	Latency any `json:"latency"`
}

type plainOutcome Outcome // without methods

func (o *Outcome) written() written {
	if o.Latency.IsZero() {
		return written{plainOutcome(*o), 0}
	}
	return written{plainOutcome(*o), o.Latency}
}

// MarshalJSON writes what is set of the outcome.
func (o Outcome) MarshalJSON() ([]byte, error) { return encode(o.written()) }

// MarshalJSON writes a stage; one that has a single outcome is written without
// the list.
func (s Stage) MarshalJSON() ([]byte, error) {
	if len(s.Outcomes) != 1 {
		type plain Stage
		return encode(plain(s))
	}
	return encode(struct {
		At Offset `json:"at"`
		written
	}{s.At, s.Outcomes[0].written()})
}
