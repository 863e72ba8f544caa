// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// sent is a request whose parameters are what a client has chosen.
type sent struct {
	request
	values map[string]string
}

func (s sent) Query(name string) []string  { return []string{s.values[name]} }
func (s sent) First(_, name string) string { return s.values[name] }

// hostile are numbers that clients may send.
var hostile = []string{
	"NaN", "nan", "Inf", "-Inf", "infinity", "+Inf", "1e309", "-1e309", "1e308", "-1e308", "1e19", "-1e19", "9223372036854775807",
	"-9223372036854775808", "4611686018427387904", "0.2", "0.8", "-0.5", "1e-300", "0x1p-2", "1e999999999", "", " ", "x", "3", "0",
}

// TestValuesThatClientsSend holds that no number makes a template panic, in any
// pair, and what is written in the place of a value that cannot be made.
func TestValuesThatClientsSend(t *testing.T) {
	for _, text := range []string{
		"{{randomInt lower=request.query.a upper=request.query.b}}",
		"{{randomDecimal lower=request.query.a upper=request.query.b}}",
		"{{randomValue length=request.query.a}}",
		"{{substring 'abc' request.query.a}}",
		"{{substring 'abc' request.query.a request.query.b}}",
		"{{math request.query.a '+' request.query.b}}{{math request.query.a '/' request.query.b}}{{math request.query.a '%' request.query.b}}",
		"{{gt request.query.a request.query.b}}{{lte request.query.a request.query.b}}",
	} {
		compiled, err := Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range hostile {
			for _, b := range hostile {
				got := string(compiled.Append(nil, sent{request{rand.NewPCG(1, 2)}, map[string]string{"a": a, "b": b}}))
				if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
					t.Errorf("%s with %q and %q: got %s", text, a, b, got)
				}
			}
		}
	}
	for _, tc := range []struct{ text, a, b, want string }{
		{"{{randomInt lower=request.query.a upper=request.query.b}}", "0.2", "0.8", "[ERROR: randomInt needs a lower bound below the upper]"},
		{"{{randomInt lower=request.query.a upper=request.query.b}}", "1e19", "1.1e19", "[ERROR: randomInt needs a lower bound below the upper]"},
		{"{{randomInt lower=request.query.a upper=request.query.b}}", "4.5", "5.5", "4"},
		{"{{randomDecimal lower=request.query.a upper=request.query.b}}", "-1e308", "1e308", "[ERROR: randomDecimal needs a lower bound below the upper]"},
		{"{{randomValue length=request.query.a}}", "NaN", "", "[ERROR: randomValue needs a length from 0 to 1048576]"},
		{"{{substring 'abc' request.query.a}}", "NaN", "", "[ERROR: substring is out of the text's bounds]"},
		{"{{substring 'abc' 0 request.query.a}}", "NaN", "", "[ERROR: substring is out of the text's bounds]"},
		{"{{gt request.query.a request.query.b}}", "NaN", "A", "true"},
	} {
		compiled, err := Parse(tc.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(compiled.Append(nil, sent{request{rand.NewPCG(1, 2)}, map[string]string{"a": tc.a, "b": tc.b}})); got != tc.want {
			t.Errorf("%s with %s and %s: got %s, want %s", tc.text, tc.a, tc.b, got, tc.want)
		}
	}
}
