// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
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
