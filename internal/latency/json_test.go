// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for _, tc := range []struct{ data, want string }{
		{`0`, "0"},
		{`"0"`, "0"},
		{`100`, "100ms"},
		{`0.5`, "500µs"},
		{`"100ms..200ms"`, "100ms..200ms"},
		{`{"type":"fixed","milliseconds":100}`, "100ms"},
		{`{"type":"uniform","lower":15,"upper":25}`, "15ms..25ms"},
		{`{"type":"lognormal","median":70,"sigma":0.3}`, "lognormal(70ms,0.3)"},
		{`{"type":"lognormal","median":70,"sigma":0.3,"maxValue":2000}`, "lognormal(70ms,0.3,2s)"},
	} {
		var l Latency
		if err := json.Unmarshal([]byte(tc.data), &l); err != nil {
			t.Errorf("%s: %v", tc.data, err)
			continue
		}
		if l.String() != tc.want {
			t.Errorf("%s: got %s, want %s", tc.data, l, tc.want)
		}
		written, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var again Latency
		if err := json.Unmarshal(written, &again); err != nil || again.String() != tc.want {
			t.Errorf("%s: written as %s, read back as %s, %v", tc.data, written, again, err)
		}
	}
}

func TestJSONNullIsAbsent(t *testing.T) {
	var stage struct {
		Latency Latency `json:"latency,omitzero"`
	}
	if err := json.Unmarshal([]byte(`{"latency":null}`), &stage); err != nil || !stage.Latency.IsZero() {
		t.Errorf("got %s, %v", stage.Latency, err)
	}
	if data, err := json.Marshal(stage); err != nil || string(data) != "{}" {
		t.Errorf("no latency is written as %s, %v", data, err)
	}
}

func TestJSONNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ data, want string }{
		{`"500"`, "with a unit"},
		{`-1`, "negative"},
		{`1e300`, "too large"},
		{`9223372036854.775807`, "too large"},
		{`true`, "expected text, a number"},
		{`[1]`, "expected text, a number"},
		{`{}`, "type ''"},
		{`{"type":"gamma"}`, "type 'gamma'"},
		{`{"type":"fixed"}`, "milliseconds is missing"},
		{`{"type":"fixed","milliseconds":-1}`, "milliseconds -1 is negative"},
		{`{"type":"fixed","milliseconds":1,"median":2}`, `unknown field "median"`},
		{`{"type":"uniform","lower":20}`, "upper is missing"},
		{`{"type":"uniform","upper":20}`, "lower is missing"},
		{`{"type":"uniform","lower":20,"upper":10}`, "lower 20ms is above upper 10ms"},
		{`{"type":"lognormal","sigma":0.3}`, "median is missing"},
		{`{"type":"lognormal","median":70}`, "sigma is missing"},
		{`{"type":"lognormal","median":70,"sigma":0.3,"maxValue":50}`, "median 70ms is above the cap 50ms"},
		{`{"type":"lognormal","median":70,"sigma":0.3,"maxvalue":50,"max":1}`, `unknown field "max"`},
		{`{"type":"lognormal","median":"70","sigma":0.3}`, "median"},
	} {
		var l Latency
		err := json.Unmarshal([]byte(tc.data), &l)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", tc.data, err, tc.want)
		}
	}
}
