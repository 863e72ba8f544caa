// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime1 uint32 = 2654435761
	prime2 uint32 = 2246822519
	prime3 uint32 = 3266489917
	prime4 uint32 = 668265263
	prime5 uint32 = 374761393
)

// Hash is the checksum of LZ4 frames, XXH32 with seed 0, which the lz4 package
// keeps to itself. A copy goes on by itself. The zero value is ready.
type Hash struct {
	lanes [4]uint32
	total uint64
	rest  [16]byte // the last total%16 bytes
}

// Add hashes more data.
func (h *Hash) Add(data []byte) {
	if h.total == 0 {
		seed := uint32(0) // not a constant: the sums wrap around
		h.lanes = [4]uint32{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}
	}
	have := int(h.total % 16)
	h.total += uint64(len(data))
	if have > 0 {
		n := copy(h.rest[have:], data)
		if have+n < 16 {
			return
		}
		h.stripes(h.rest[:])
		data = data[n:]
	}
	copy(h.rest[:], h.stripes(data))
}

// stripes mixes all whole stripes of 16 bytes in and returns what is left.
func (h *Hash) stripes(data []byte) []byte {
	a, b, c, d := h.lanes[0], h.lanes[1], h.lanes[2], h.lanes[3]
	for ; len(data) >= 16; data = data[16:] {
		a = mix(a, binary.LittleEndian.Uint32(data))
		b = mix(b, binary.LittleEndian.Uint32(data[4:]))
		c = mix(c, binary.LittleEndian.Uint32(data[8:]))
		d = mix(d, binary.LittleEndian.Uint32(data[12:]))
	}
	h.lanes = [4]uint32{a, b, c, d}
	return data
}

// Sum returns the checksum of what was added.
func (h *Hash) Sum() uint32 {
	sum := prime5
	if h.total >= 16 {
		sum = bits.RotateLeft32(h.lanes[0], 1) + bits.RotateLeft32(h.lanes[1], 7) + bits.RotateLeft32(h.lanes[2], 12) + bits.RotateLeft32(h.lanes[3], 18)
	}
	sum += uint32(h.total)
	rest := h.rest[:h.total%16]
	for ; len(rest) >= 4; rest = rest[4:] {
		sum = bits.RotateLeft32(sum+binary.LittleEndian.Uint32(rest)*prime3, 17) * prime4
	}
	for _, b := range rest {
		sum = bits.RotateLeft32(sum+uint32(b)*prime5, 11) * prime1
	}
	sum = (sum ^ sum>>15) * prime2
	sum = (sum ^ sum>>13) * prime3
	return sum ^ sum>>16
}

// hash returns the checksum of data.
func hash(data []byte) uint32 {
	var h Hash
	h.Add(data)
	return h.Sum()
}

func mix(lane, input uint32) uint32 {
	return bits.RotateLeft32(lane+input*prime2, 13) * prime1
}
