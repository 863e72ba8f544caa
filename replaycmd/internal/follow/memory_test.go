// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"fmt"
	"runtime"
	"testing"
	"weak"
)

// TestOldRequestsAreLetGo has a long session in which each request has a value of the
// answer before it, while the cookie of the first answer stays.
func TestOldRequestsAreLetGo(t *testing.T) {
	c := conversationsOf(t, Options{}, "GET /pages: query after <- GET /pages: json $.next")
	var early weak.Pointer[Step]
	const records = 2*maxKnown + 10
	for i := range records {
		cookie := ""
		if i == 0 {
			cookie = "Set-Cookie: sid=1\r\n"
		}
		step := c.Next(exchange(i, "me", "GET", fmt.Sprintf("/pages?after=p%d", i), "Cookie: sid=1\r\n", "", cookie, fmt.Sprintf(`{"next":"p%d"}`, i+1)), 0)
		if i > 0 && len(step.needs) == 0 {
			t.Fatalf("request %d needs nothing", i)
		}
		answer(step, 0, 200, cookie, fmt.Sprintf(`{"next":"q%d"}`, i+1))
		if i == 10 {
			early = weak.Make(step)
		}
	}
	runtime.GC()
	if early.Value() != nil {
		t.Errorf("request 10 of %d is kept", records)
	}
	runtime.KeepAlive(c)
}
