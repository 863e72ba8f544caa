// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"slices"
	"testing"
)

// TestMessagesForOneRequest holds that such a message has lines of its own and leaves
// the one it is made of as it is, whatever there is room for.
func TestMessagesForOneRequest(t *testing.T) {
	for _, n := range []int{0, 1, 4, 5} {
		var fields []Field
		for i := range n {
			fields = append(fields, NewField(fmt.Sprintf("X-%d", i), "old"))
		}
		fields = append(fields, NewField("Content-Type"))
		head := NewMessage(200, fields, Bytes([]byte("old")))
		one := head.ForOne(201, []byte("new"), n, func(i int) string { return fmt.Sprint(i) })
		other := head.ForOne(204, []byte("none"), n, func(int) string { return "other" })
		if one.Status != 201 || one.Length != "3" || string(one.Content.Parts[0]) != "new" || !one.Single || one.Lines != n {
			t.Errorf("%d fields: %+v", n, one)
		}
		if other.Length != "" || other.Content.Parts != nil {
			t.Errorf("%d fields: 204 with a body: %+v", n, other)
		}
		for i := range n {
			if got := one.Fields[i]; got.Name != fmt.Sprintf("X-%d", i) || !slices.Equal(got.Values, []string{fmt.Sprint(i)}) {
				t.Errorf("%d fields: %+v", n, got)
			}
			if got := head.Fields[i].Values; !slices.Equal(got, []string{"old"}) {
				t.Errorf("%d fields: the first message has become %q", n, got)
			}
		}
		if got := one.Fields[n]; got.Name != "Content-Type" || len(got.Values) != 0 {
			t.Errorf("%d fields: %+v", n, got)
		}
	}
}
