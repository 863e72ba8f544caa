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
