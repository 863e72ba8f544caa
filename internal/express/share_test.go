// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
)

// sharedBody is what /shared is answered from: no two parts of it are alike.
var sharedBody = sync.OnceValue(func() []byte {
	var body []byte
	for i := 0; len(body) < 8<<20; i++ {
		body = fmt.Appendf(body, "%d,", i)
	}
	Share(body)
	return body
})

func TestSharedBodies(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for _, part := range [][2]int{{0, minShared}, {0, 50_000}, {12_345, 112_345}, {1, 7 << 20}, {0, 100}, {0, len(sharedBody())}} {
			c.send(fmt.Sprintf("GET /shared?%d,%d HTTP/1.1\r\nHost: test\r\n\r\nGET /shared?5,20000 HTTP/1.1\r\nHost: test\r\n\r\n", part[0], part[1]))
			for _, want := range [][]byte{sharedBody()[part[0]:part[1]], sharedBody()[5:20_000]} {
				if _, body := c.answer("GET"); body != string(want) {
					t.Errorf("%v: got %d bytes, not the %d that were shared", part, len(body), len(want))
				}
			}
		}
	})
}

func TestSharedBodiesForSlowAndForLeavingClients(t *testing.T) {
	s := runSites(t, servers("write_idle "+limit))
	request := fmt.Sprintf("GET /shared?0,%d HTTP/1.1\r\nHost: test\r\n\r\n", len(sharedBody()))
	c := s.taken(t)
	c.send(request) // and reads nothing
	eventually(t, "the server leaves", func() bool { return open(t) == 0 })

	c = s.taken(t)
	c.send(request)
	c.Close()
	eventually(t, "the server notices", func() bool { return open(t) == 0 })

	c = s.taken(t)
	c.send(request)
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for got.Len() < len(sharedBody()) { // in steps, each well within the limit
		if _, err := io.CopyN(&got, resp.Body, min(1<<20, int64(len(sharedBody())-got.Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), sharedBody()) {
		t.Error("the body is not what was shared")
	}
}

func TestSharedBlocksAreForgotten(t *testing.T) {
	count := func() int {
		all := blocks.sorted.Load()
		if all == nil {
			return 0
		}
		return len(*all)
	}
	before := count()
	for range 20 {
		body := make([]byte, minShared)
		Share(body)
		if _, _, ok := shared(body); ok != canShare {
			t.Fatalf("shared: %v", ok)
		}
		if _, _, ok := shared(make([]byte, minShared)); ok {
			t.Fatal("what was not shared is found")
		}
	}
	eventually(t, "they are forgotten", func() bool {
		runtime.GC()
		return count() <= before
	})
}

// BenchmarkShared finds a block among many.
func BenchmarkShared(b *testing.B) {
	bodies := make([][]byte, 100)
	for i := range bodies {
		bodies[i] = make([]byte, minShared)
		Share(bodies[i])
		shared(bodies[i])
	}
	for i := 0; b.Loop(); i++ {
		shared(bodies[i%len(bodies)])
	}
}
