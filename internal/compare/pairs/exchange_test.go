// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// TestBuffersCountWhole has small responses copied into large buffers of earlier
// ones: what may be held bounds the memory, not what is used of it.
func TestBuffersCountWhole(t *testing.T) {
	const large, most = 50_000, 120_000
	pool := &Pool{options: Options{Memory: NewMemory(most)}}
	var memory int64
	for i := range 10 {
		large := make([]byte, 0, large)
		buffers.Put(&large)
		x := newExchange(pool, 0)
		x.lacking++ // one of them is never there
		x.Respond(Old, &compare.Response{Body: []byte("1")})
		if !x.sides[Old].known || x.sides[Old].reason != "" {
			t.Fatalf("response %d: %+v", i, x.sides[Old])
		}
		memory += int64(cap(*x.sides[Old].buffer))
	}
	if memory > most || memory != pool.options.Memory.Held() {
		t.Errorf("buffers of %d bytes, and %d are held of at most %d", memory, pool.options.Memory.Held(), most)
	}
}

// TestWhatIsComparedIsLetGo has one of two sides never ask for its exchange, so that
// its key is kept: what the other has handed in, which is no longer counted, is not.
func TestWhatIsComparedIsLetGo(t *testing.T) {
	rules, err := compare.NewRules(compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := New(Options{Rules: rules, Tallies: []*tally.Tally{tally.New(tally.Options{})}})
	x := pool.Join(1, &Request{Body: make([]byte, 100_000)})
	x.Respond(Old, &compare.Response{Header: []byte("A: b\r\n"), Body: make([]byte, 100_000)})
	pool.Close()
	known, kept := pool.keys.known[1]
	if !kept || known.exchange != x {
		t.Fatal("the key is not kept")
	}
	if left := &x.sides[Old].response; pool.options.Memory.Held() != 0 || left.Body != nil || left.Header != nil || x.request.Body != nil {
		t.Errorf("%d bytes are held, and there are %d of the response and %d of the request", pool.options.Memory.Held(), len(left.Body), len(x.request.Body))
	}
}
