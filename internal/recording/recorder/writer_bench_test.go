// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// BenchmarkWriter is what the one writer does for each batch of 1 MB: it
// compresses (or stores what does not shrink), hashes for the frame's checksum,
// and writes.
func BenchmarkWriter(b *testing.B) {
	const size = 1_000_000
	random, json := make([]byte, size), make([]byte, 0, size+200)
	chance := rand.NewChaCha8([32]byte{})
	_, _ = chance.Read(random)
	for n := 0; len(json) < size; n++ {
		json = fmt.Appendf(json, `{"id":%d,"name":"article %d","price":%d,"tags":["a","b","c"],"token":"%x"}`, n, n%100, n*7%1000, chance.Uint64())
	}
	for name, data := range map[string][]byte{"random": random, "json": json[:size]} {
		compressed := newLane(Compression{})
		compressed.batch = &batch{records: data}
		b.Run(name+"/compress", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				compressed.compress()
			}
		})
		b.Run(name+"/checksum", func(b *testing.B) {
			b.SetBytes(size)
			var sum frame.Hash
			for b.Loop() {
				sum.Add(data)
			}
		})
		b.Run(name+"/write", func(b *testing.B) {
			file, err := os.Create(filepath.Join(b.TempDir(), "file"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			b.SetBytes(int64(len(compressed.blocks)))
			for b.Loop() {
				if _, err := file.WriteAt(compressed.blocks, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
