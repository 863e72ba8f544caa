// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"testing"
)

// A target whose numbers are one ahead has for each value what was another's
// value when it was recorded.
func TestValuesOfOnePlaceAreReplacedAllAtOnce(t *testing.T) {
	const json = "Content-Type: application/json\r\n"
	for name, ids := range map[string][3]string{
		"short": {"5", "6", "7"},
		"long":  {"1000000000000005", "1000000000000006", "1000000000000007"},
	} {
		c := conversationsOf(t, Options{}, "POST /orders: json $.items[*].id <- POST /items: json $.id", "GET /items: query id <- POST /items: json $.id")
		one := c.Next(exchange(0, "me", "POST", "/items", "", "", "", `{"id":"`+ids[0]+`"}`), 0)
		two := c.Next(exchange(5, "me", "POST", "/items", "", "", "", `{"id":"`+ids[1]+`"}`), 0)
		order := exchange(9, "me", "POST", "/orders", json, `{"items":[{"id":"`+ids[0]+`"},{"id":"`+ids[1]+`"},{"id":"`+ids[0]+`"}]}`, "", "")
		get := exchange(9, "me", "GET", "/items?id="+ids[1]+"&id="+ids[0], "", "", "", "")
		ordering, getting := c.Next(order, 0), c.Next(get, 0)
		answer(one, 0, 200, "", `{"id":"`+ids[1]+`"}`)
		answer(two, 0, 200, "", `{"id":"`+ids[2]+`"}`)
		if got, want := string(changed(ordering, order, 0).Body), `{"items":[{"id":"`+ids[1]+`"},{"id":"`+ids[2]+`"},{"id":"`+ids[1]+`"}]}`; got != want {
			t.Errorf("%s: sent %s, want %s", name, got, want)
		}
		if got, want := string(changed(getting, get, 0).URI), "/items?id="+ids[2]+"&id="+ids[1]; got != want {
			t.Errorf("%s: sent %s, want %s", name, got, want)
		}
		for i, want := range []int64{3, 2} {
			if n := c.Counts(0)[i]; n.Followed != want || n.Kept != 0 {
				t.Errorf("%s: counted %+v", name, n)
			}
		}
	}
}

// What a value cannot be replaced in goes as it was recorded, and does not count as
// followed.
func TestValuesThatCannotBeReplacedAreCounted(t *testing.T) {
	const secret, fresh = "5d0c1a2b9e7f4c3d", "aaaabbbbccccdddd"
	const json = "Content-Type: application/json\r\n"
	for name, tc := range map[string]struct {
		fields, body string
		cut          bool // the recording has the beginning of the body
		value, by    string
		kept         int64
	}{
		"whole":           {json, `{"id":"17"}`, false, "17", "18", 0},
		"the same":        {json, `{"id":"17"}`, false, "17", "17", 0},
		"cut off":         {json, `{"id":"17","text":"`, true, "17", "18", 1},
		"no JSON":         {json, `{"id":"17","x":NaN}`, false, "17", "18", 1},
		"packed":          {json + "Content-Encoding: identity, identity\r\n", `{"id":"17"}`, false, "17", "18", 1},
		"long":            {json, `{"id":"` + secret + `"}`, false, secret, fresh, 0},
		"long in a cut":   {json, `{"id":"` + secret + `","text":"`, true, secret, fresh, 1},
		"part of a token": {"X-Token: eyJhbGciOiJub25lIn0.eyJzaWQiOiI1ZDBjMWEyYjllN2Y0YzNkIn0.c2lnbmVk\r\n", "", false, secret, fresh, 1},
	} {
		c := conversationsOf(t, Options{}, "POST /orders: json $.id <- POST /items: json $.id")
		made := c.Next(exchange(0, "me", "POST", "/items", "", "", "", `{"id":"`+tc.value+`"}`), 0)
		r := exchange(9, "me", "POST", "/orders", tc.fields, tc.body, "", "")
		if tc.cut {
			r.BodySize = uint64(len(r.Body)) + 100
		}
		step := c.Next(r, 0)
		answer(made, 0, 200, "", `{"id":"`+tc.by+`"}`)
		got := changed(step, r, 0)
		if n := c.Counts(0)[0]; n.Kept != tc.kept || n.Followed != 1-tc.kept {
			t.Errorf("%s: counted %+v, sent %s%s", name, n, got.Headers, got.Body)
		}
	}
}
