// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestEqualToJSONDecidesLikeATree compares what is decided on the text, without
// building anything, with the obvious way: parsing both and trying all pairs. Small
// values of few kinds are often nearly equal.
func TestEqualToJSONDecidesLikeATree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	met, unmet := 0, 0
	for range 30_000 {
		expected := randomJSON(random, 3)
		actual := expected
		if random.IntN(3) > 0 {
			actual = randomJSON(random, 3)
		}
		var e, a any
		for text, into := range map[string]*any{expected: &e, actual: &a} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(text, err)
			}
		}
		quoted, err := json.Marshal(expected)
		if err != nil {
			t.Fatal(err)
		}
		if expected == actual {
			a = e
		}
		for _, anyOrder := range []bool{false, true} {
			for _, extra := range []bool{false, true} {
				pattern, err := parsePattern("", json.RawMessage(fmt.Sprintf(`{"equalToJson":%s,"ignoreArrayOrder":%v,"ignoreExtraElements":%v}`, quoted, anyOrder, extra)))
				if err != nil {
					t.Fatal(expected, err)
				}
				want := equalTrees(e, a, anyOrder, extra)
				if got := meets(pattern, present(actual)); got != want {
					t.Fatalf("expected %s, actual %s, any order %v, extra %v: %v", expected, actual, anyOrder, extra, got)
				}
				if want {
					met++
				} else {
					unmet++
				}
			}
		}
	}
	if met < 10_000 || unmet < 10_000 {
		t.Errorf("%d met and %d unmet say little", met, unmet)
	}
}

// randomJSON returns a value with white space here and there.
func randomJSON(random *rand.Rand, depth int) string {
	space := func() string { return strings.Repeat(" ", random.IntN(2)) }
	n := random.IntN(4)
	switch kind := random.IntN(6); {
	case kind == 0 && depth > 0:
		var elements []string
		for range n {
			elements = append(elements, space()+randomJSON(random, depth-1)+space())
		}
		return "[" + strings.Join(elements, ",") + "]"
	case kind <= 2 && depth > 0:
		var members []string
		for range n {
			i := random.IntN(4) // a name may come twice: its last value counts
			members = append(members, space()+fmt.Sprintf("%q", "ab]\""[i:i+1])+space()+":"+space()+randomJSON(random, depth-1)+space())
		}
		return "{" + strings.Join(members, ",") + "}"
	case kind == 3:
		return []string{`"1"`, `"]"`, `"\u0061"`, `"a"`}[n]
	}
	return []string{"1", "1.0", "true", "null"}[n]
}

// equalTrees is what TestEqualToJSONDecidesLikeATree compares with.
func equalTrees(expected, actual any, anyOrder, extra bool) bool {
	switch e := expected.(type) {
	case map[string]any:
		a, ok := actual.(map[string]any)
		if !ok || len(a) > len(e) && !extra {
			return false
		}
		for name, value := range e {
			if got, has := a[name]; !has || !equalTrees(value, got, anyOrder, extra) {
				return false
			}
		}
		return true
	case []any:
		a, ok := actual.([]any)
		if !ok || len(a) < len(e) || len(a) > len(e) && !extra {
			return false
		}
		return equalElements(e, a, anyOrder, extra)
	}
	return expected == actual
}

func equalElements(expected, actual []any, anyOrder, extra bool) bool {
	if len(expected) == 0 {
		return true
	}
	for i := range actual {
		rest := append(append([]any{}, actual[:i]...), actual[i+1:]...)
		if !anyOrder {
			rest = actual[1:]
		}
		if equalTrees(expected[0], actual[i], anyOrder, extra) && equalElements(expected[1:], rest, anyOrder, extra) {
			return true
		}
		if !anyOrder {
			break
		}
	}
	return false
}
