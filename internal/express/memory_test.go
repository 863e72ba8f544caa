// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
)

// sharedBody is what /shared is answered from: no two parts of it are alike.
var sharedBody = sync.OnceValue(func() *memfile.Body {
	var body []byte
	for i := 0; len(body) < 8<<20; i++ {
		body = append(strconv.AppendInt(body, int64(i), 10), ',')
	}
	return memfile.New(body)
})

func ofBody(length int) string {
	return fmt.Sprintf("GET /shared?%d HTTP/1.1\r\nHost: test\r\n\r\n", length)
}

func TestBodiesFromMemory(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for _, length := range []int{0, 100, minFromFile - 1, minFromFile, 50_000, 428_000, 2 << 20} {
			c.send(ofBody(length) + strings.Replace(ofBody(length), "GET", "HEAD", 1) + ofBody(20_000))
			if _, body := c.answer("GET"); body != string(sharedBody().Bytes()[:length]) {
				t.Errorf("got %d bytes, not the first %d of the body", len(body), length)
			}
			if resp, _ := c.answer("HEAD"); resp.ContentLength != int64(length) {
				t.Errorf("HEAD says %d bytes, not %d", resp.ContentLength, length)
			}
			if _, body := c.answer("GET"); body != string(sharedBody().Bytes()[:20_000]) {
				t.Error("what follows is not the beginning of the body")
			}
		}
	})
}

func TestSharedBodiesForSlowAndForLeavingClients(t *testing.T) {
	s := runSites(t, servers("write_idle "+limit))
	all := sharedBody().Bytes()
	c := s.taken(t)
	c.send(ofBody(len(all))) // and reads nothing
	eventually(t, "the server leaves", func() bool { return open(t) == 0 })

	c = s.taken(t)
	c.send(ofBody(len(all)))
	c.Close()
	eventually(t, "the server notices", func() bool { return open(t) == 0 })

	c = s.taken(t)
	c.send(ofBody(len(all)))
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for got.Len() < len(all) { // in steps, each well within the limit
		if _, err := io.CopyN(&got, resp.Body, min(1<<20, int64(len(all)-got.Len()))); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), all) {
		t.Error("the body is not as it was")
	}
}
