// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"hash/crc32"
	"testing"
)

// TestChecksum holds against the CRC of all bytes.
func TestChecksum(t *testing.T) {
	before := []byte("anything")
	for log := range pieces() {
		want := crc32.Update(crc32.ChecksumIEEE(before), crc32.IEEETable, block()[:1<<log])
		if got := checksums()[log].after(crc32.ChecksumIEEE(before)); got != want {
			t.Errorf("piece of %d bytes: got %x, want %x", 1<<log, got, want)
		}
	}
}

// BenchmarkGzipOfSize is what a request costs that has its size drawn.
func BenchmarkGzipOfSize(b *testing.B) {
	for _, tc := range []struct {
		name string
		size int64
	}{{"400kb", 400<<10 - 1}, {"1gb", 1<<30 - 1}, {"64gb", 64<<30 - 1}} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				gzipOfSize(tc.size)
			}
		})
	}
}
