// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestLikeness changes a document in every way of a few bytes: what is taken over
// from the one before comes to the same as parsing anew, also where it is no JSON
// any more.
func TestLikeness(t *testing.T) {
	texts := []string{
		`{"a":1,"b":[{"id":1,"x":"y"},{"id":2,"x":"\"z"}],"":{"c":null,"d":[true,[]]},"e":-1.5e3}`,
		` [ 1 , [ 2 , "three" ] , { "four" : { } } ] `, `"alone"`, `7`, twoKilobytes(17), strings.Repeat("[", 500) + "1" + strings.Repeat("]", 500),
	}
	parts := []string{"", "1", "0", `"`, `\`, ",", "[", "]", "{", "}", ":", " ", `"k":1,`, "null", `{"id":3,"x":""},`, `[[["deep"]]]`, "x", "-"}
	random := rand.New(rand.NewPCG(1, 2))
	adopted := 0
	for i := range 20_000 {
		old := texts[i%len(texts)]
		from := random.IntN(len(old) + 1)
		to := min(len(old), from+random.IntN(4))
		fresh := old[:from] + parts[random.IntN(len(parts))] + old[to:]
		var before, like, whole document
		if err := before.parse([]byte(old)); err != nil {
			t.Fatal(err)
		}
		if like.adopt([]byte(fresh), &before) {
			adopted++
		}
		errLike, err := like.parseLike([]byte(fresh), &before), whole.parse([]byte(fresh))
		if errLike != err || err == nil && (string(like.text) != fresh || !slices.Equal(like.nodes, whole.nodes)) { //nolint:errorlint // they are the same
			t.Fatalf("%s\n%s\n%v %v\n%v %v", old, fresh, errLike, like.nodes, err, whole.nodes)
		}
	}
	if adopted < 2000 {
		t.Errorf("only %d documents were taken over", adopted)
	}
}

// TestModel reads documents of all kinds by one model, which some of them become:
// each is what it is without one.
func TestModel(t *testing.T) {
	var m model
	var like, whole document
	for i, s := range []string{
		`{"a":1}`, `{"a":1}`, `{"a":22}`, `[1,2]`, `[1,2,3]`, `{"a":`, `[1,2]`, `{"a":{"b":[1]}}`, `{"a":{"b":[1,{}]}}`, `7`, `7`, `8`,
		twoKilobytes(1), twoKilobytes(1), twoKilobytes(12345), `"` + strings.Repeat("x", maxModel) + `"`, twoKilobytes(2),
	} {
		errLike, err := m.parse(&like, []byte(s)), whole.parse([]byte(s))
		if errLike != err || err == nil && (string(like.text) != s || !slices.Equal(like.nodes, whole.nodes)) { //nolint:errorlint // they are the same
			t.Errorf("%d: %s\n%v %v\n%v %v", i, s, errLike, like.nodes, err, whole.nodes)
		}
		if cap(m.source) > 2*maxModel {
			t.Errorf("%d: the model keeps %d bytes", i, cap(m.source))
		}
	}
}
