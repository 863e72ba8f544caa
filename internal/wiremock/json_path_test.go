// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"testing"
)

func TestMatchesJSONPathWithoutAText(t *testing.T) {
	p, err := parsePattern("", json.RawMessage(`{"matchesJsonPath":{"expression":"$.a","absent":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		value value
		want  bool
	}{
		{value{}, true},
		{present(""), false},
		{present("x"), true},
		{present(`{"b":1}`), true},
		{present(`{"a":1}`), false},
		{present("   "), true},
		{present("null"), false},
		{present(`{"b":`), false},
		{present(" [1,}"), false},
		{present("<b/>"), false},
	} {
		if got := meets(p, tc.value); got != tc.want {
			t.Errorf("%+v: got %t", tc.value, got)
		}
	}
}
