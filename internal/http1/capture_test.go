// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatIsNotHeldIsCounted has bodies share a bound of memory: beyond it the
// rest is read and counted, and what was granted can be given back.
func TestWhatIsNotHeldIsCounted(t *testing.T) {
	const size = 300 << 10
	held, most := 0, 200<<10
	capture := &Capture{MaxBody: 1 << 20, Hold: func(bytes int) bool {
		if held+bytes > most {
			return false
		}
		held += bytes
		return true
	}}
	response := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
	for _, c := range []struct {
		most    int
		refused bool
	}{{200 << 10, true}, {2 << 20, false}, {0, false}} { // the last has the memory of the one before
		most = c.most
		resp, err := mustDial(t, odd(t, closing(response))).Exchange(page, soon(), capture)
		if err != nil || resp.BodySize != size || !resp.Whole {
			t.Fatalf("got %+v, error %v", resp, err)
		}
		if capture.Refused != c.refused || (len(capture.Body) == size) == c.refused || held != capture.Held() || len(capture.Body) < FreeBody {
			t.Errorf("with %d bytes: refused %v, %d bytes are kept; %d are held, of %d", c.most, capture.Refused, len(capture.Body), capture.Held(), held)
		}
	}
}
