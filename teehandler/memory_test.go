// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// holdAtMost sets how much memory the tees of a test have.
func holdAtMost(t *testing.T, bytes int64) {
	before := maxHeld
	maxHeld = bytes
	t.Cleanup(func() { maxHeld = before })
}

// What clients send while shadows hang is dropped before it fills the server,
// and copied again when there is room.
func TestMemoryIsBounded(t *testing.T) {
	const size = 100 << 10
	holdAtMost(t, 5*size)
	release := make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	defer answer()
	primary := newUpstream(t, nil)
	shadow := newUpstream(t, func(http.ResponseWriter, *http.Request) { <-release })
	server, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.URL+" "+shadow.addr(), "timeout 20s\nmax_body 100KiB")
	})
	for i := range 20 {
		sent := bytesOf(size)
		if status, got := post(t, http.DefaultClient, "http://"+addr, strings.NewReader(sent)); status != 200 || got != sumOf(sent) {
			t.Fatalf("request %d: client got %d %s", i, status, got)
		}
	}
	for _, name := range []string{shadow.URL, shadow.addr()} {
		waitOutcome(t, name, "dropped_memory", 15)
	}
	shadow.wait(10) // both get five, whose memory they share
	answer()
	for _, name := range []string{shadow.URL, shadow.addr()} {
		waitOutcome(t, name, "sent_2xx", 5)
	}
	if n := strings.Count(server.Logs(), "take too much memory"); n != 2 {
		t.Errorf("it was logged %d times, want once for each shadow", n)
	}
	eventually(t, "room for another copy", func() (string, bool) {
		post(t, http.DefaultClient, "http://"+addr, strings.NewReader("again"))
		return fmt.Sprint(outcomesOf(t, shadow.URL)), outcomesOf(t, shadow.URL)["sent_2xx"] > 5
	})
}

// A body counts while it is received, with the room that was made for it, and
// no more once it is given up.
func TestMemoryCountsWhatIsBeingReceived(t *testing.T) {
	m := &memory{limit: 60 << 10}
	s := &snapshot{memory: m}
	s.holders.Store(1)
	s.keep(50)
	r, _ := http.NewRequest(http.MethodPost, "/", unknownLength{strings.NewReader(bytesOf(1 << 20))})
	c := newCapture(r, s, 1<<20, func() { t.Error("the body was captured") })
	most := int64(0)
	for c.state == capturing {
		if n, err := c.Read(make([]byte, 10<<10)); n == 0 || err != nil {
			t.Fatalf("primary got %d bytes, error %v", n, err)
		}
		most = max(most, m.held.Load())
	}
	if most < m.limit || most > 3*m.limit || m.held.Load() != 0 {
		t.Errorf("of %d bytes %d were held, and %d in the end", m.limit, most, m.held.Load())
	}
	if reason := c.dropped(); reason != droppedMemory {
		t.Errorf("the copy is %s", outcomeNames[reason])
	}
	c.Close()
	if n, err := io.Copy(io.Discard, c); n != 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("the primary read %d bytes after the end, error %v", n, err)
	}
	s.release()
	s.release()
	if held := m.held.Load(); held != 0 {
		t.Errorf("%d bytes are held in the end", held)
	}
}

// Handlers as shadows keep headers as well.
func TestMemoryCountsHeadersOfHandlers(t *testing.T) {
	for _, h := range []*Handler{{To: []string{"a.test"}}, {Handle: []caddyhttp.RouteList{nil}}} {
		h.memory = new(memory)
		r, _ := http.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Large", strings.Repeat("x", 10<<10))
		s := h.snapshot(r, "/")
		if held := h.memory.held.Load(); held < 10<<10 || held > 11<<10 {
			t.Errorf("%d bytes are held", held)
		}
		s.release()
		if held := h.memory.held.Load(); held != 0 {
			t.Errorf("%d bytes are held in the end", held)
		}
	}
}
