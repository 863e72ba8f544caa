// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"strings"
	"testing"
)

func TestBodyIsReadOnceAndOnlyIfLookedAt(t *testing.T) {
	set := parse(t, `[
		{"request":{"url":"/plain"}},
		{"request":{"url":"/body","bodyPatterns":[{"equalTo":"x"}]}},
		{"request":{"url":"/body","bodyPatterns":[{"matchesJsonPath":"$.a"}]}},
		{"request":{"url":"/body","bodyPatterns":[{"equalToJson":{"a":1}}]},"response":{"body":"{{request.body}}","transformers":["response-template"]}}]`)
	for target, want := range map[string]int{"/plain": 0, "/body": 1} {
		read := 0
		r := &Request{Method: "POST", Target: target, ReadBody: func() ([]byte, error) { read++; return []byte(`{"a":1}`), nil }}
		m, err := set.Match(r)
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		if _, err := m.Respond(r); err != nil {
			t.Fatal(err)
		}
		if read != want {
			t.Errorf("%s: the body was read %d times", target, read)
		}
	}
}

func TestUnreadableBodyIsAnError(t *testing.T) {
	set := parse(t, `[{"request":{"bodyPatterns":[{"doesNotContain":"x"}]}},{"priority":1,"request":{"url":"/plain"}}]`)
	broken := errors.New("connection reset")
	r := &Request{Method: "POST", Target: "/", ReadBody: func() ([]byte, error) { return []byte("cut"), broken }}
	if m, err := set.Match(r); m != nil || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", m, err)
	}
	r = &Request{Method: "POST", Target: "/plain", ReadBody: r.ReadBody}
	if m, err := set.Match(r); m == nil || err != nil {
		t.Errorf("a mapping that does not look at the body: got %v, %v", m, err)
	}
}

// meets is whether a condition by itself is met.
func meets(p pattern, v value) bool { return new(Request).meets(p, v) }

// TestDeepJSONIsNoJSON holds that a body cannot exhaust the stack.
func TestDeepJSONIsNoJSON(t *testing.T) {
	set := parse(t, `[{"request":{"bodyPatterns":[{"matchesJsonPath":"$..a"}]}}]`)
	for _, tc := range []struct {
		depth int
		want  bool
	}{{900, true}, {1_000_000, false}} {
		body := strings.Repeat("[", tc.depth) + `{"a":"]\"["}` + strings.Repeat("]", tc.depth)
		m, err := set.Match(newRequest(exchange{Method: "POST", Target: "/", Body: body}))
		if err != nil || (m != nil) != tc.want {
			t.Errorf("depth %d: got %v, %v", tc.depth, m, err)
		}
	}
}

// TestBasicAuthInAnyCase holds that the scheme may be in any case, as HTTP has it and
// WireMock takes it, and nothing else.
func TestBasicAuthInAnyCase(t *testing.T) {
	set := parse(t, `[{"request":{"basicAuth":{"username":"u","password":"p"}}}]`)
	for header, want := range map[string]bool{"Basic dTpw": true, "basic dTpw": true, "Basic DTPW": false, "Basic  dTpw": false, "BasicdTpw": false, "": false} {
		m, err := set.Match(newRequest(exchange{Method: "GET", Target: "/", Headers: [][2]string{{"Authorization", header}}}))
		if err != nil || (m != nil) != want {
			t.Errorf("%s: got %v, %v", header, m, err)
		}
	}
}

// TestWhiteSpaceInCookies holds that white space around names and values of cookies
// belongs to neither.
func TestWhiteSpaceInCookies(t *testing.T) {
	set := parse(t, `{"request":{"cookies":{"a":{"equalTo":"1"},"b":{"equalTo":"x y"}}}}`)
	r := newRequest(exchange{Method: "GET", Target: "/", Headers: [][2]string{{"Cookie", "a = 1 ;b= \"x y\""}}})
	if m, err := set.Match(r); m == nil || err != nil {
		t.Errorf("got %v, %v", m, err)
	}
}
