// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

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

// xxh32 is the checksum of LZ4 frames, which the lz4 package keeps to itself.
func xxh32(data []byte) uint32 {
	h := prime5 + uint32(len(data))
	if len(data) >= 16 {
		h = uint32(len(data))
		seed := uint32(0)
		a, b, c, d := seed+prime1+prime2, seed+prime2, seed, seed-prime1
		for ; len(data) >= 16; data = data[16:] {
			a = mix(a, binary.LittleEndian.Uint32(data))
			b = mix(b, binary.LittleEndian.Uint32(data[4:]))
			c = mix(c, binary.LittleEndian.Uint32(data[8:]))
			d = mix(d, binary.LittleEndian.Uint32(data[12:]))
		}
		h += bits.RotateLeft32(a, 1) + bits.RotateLeft32(b, 7) + bits.RotateLeft32(c, 12) + bits.RotateLeft32(d, 18)
	}
	for ; len(data) >= 4; data = data[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(data)*prime3, 17) * prime4
	}
	for _, b := range data {
		h = bits.RotateLeft32(h+uint32(b)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}

func mix(lane, input uint32) uint32 {
	return bits.RotateLeft32(lane+input*prime2, 13) * prime1
}
