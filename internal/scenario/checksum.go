// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"hash/crc32"
	"sync"
)

// checksum is the CRC of a piece of random content, and how the CRC of what is
// before it goes into that of both: no byte is read again for it.
type checksum struct {
	sum uint32
	// shift is x to the number of bits in the piece.
	shift uint32
}

// after gives the CRC of something and the piece behind it, from the CRC of that.
func (c checksum) after(before uint32) uint32 { return multiply(c.shift, before) ^ c.sum }

// checksums are those of the pieces.
var checksums = sync.OnceValue(func() []checksum {
	var sums []checksum
	shift := uint32(1 << (31 - 8)) // x^8, for a piece of one byte
	for size := 1; size <= blockSize; size *= 2 {
		sums = append(sums, checksum{crc32.ChecksumIEEE(block()[:size]), shift})
		shift = multiply(shift, shift)
	}
	return sums
})

// multiply multiplies two polynomials modulo that of the CRC. As there, the
// highest bit stands for 1, the next one for x, and so on.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry == 1 {
			b ^= crc32.IEEE
		}
	}
	return product
}
