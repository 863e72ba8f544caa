// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// blockSize is how much random content there is; what is larger repeats it.
const blockSize = 1 << 20

// block is the random content of all scenarios.
var block = sync.OnceValue(func() []byte { return randomText(blockSize, latency.Seeded(1)) })

// shared is the block as responses share it.
var shared = sync.OnceValue(func() *memfile.Body { return memfile.New(block()) })

// letters are what random content is made of: safe inside of HTML, XML and JSON.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// randomText makes text that does not compress below three quarters.
func randomText(size int64, source rand.Source) []byte {
	text := make([]byte, size)
	const perDraw = 10 // letters, of 6 bits each
	for i := 0; i < len(text); i += perDraw {
		bits := source.Uint64()
		for j := i; j < min(i+perDraw, len(text)); j++ {
			text[j] = letters[bits&63]
			bits >>= 6
		}
	}
	return text
}

// randomContent makes content of a size, or of a range of sizes.
func randomContent(sizes recipe.SizeRange, r *recipe.Recipe) *content {
	sized := plainOfSize
	if r.Headers.Gzip() {
		sized = gzipOfSize
	}
	c := &content{mediaType: response.TypeOf("")}
	if sizes.Lower == sizes.Upper {
		c.Content = sized(int64(sizes.Lower))
		return c
	}
	c.varying = &varying{int64(sizes.Lower), int64(sizes.Upper), sized}
	return c
}

// varying is content whose size is drawn for each request.
type varying struct {
	lower, upper int64
	ofSize       func(int64) response.Content
}

func (v *varying) draw(bits uint64) response.Content {
	return v.ofSize(v.lower + int64(bits%uint64(v.upper-v.lower+1)))
}

// plainOfSize puts content together from the block.
func plainOfSize(size int64) response.Content {
	parts := make([][]byte, 0, size/blockSize+1)
	for rest := size; rest > 0; rest -= blockSize {
		parts = append(parts, block()[:min(rest, blockSize)])
	}
	c := response.Content{Parts: parts, Size: size}
	if len(parts) == 1 {
		c.Memory = shared()
	}
	return c
}

// Random content of any size is gzipped without compressing anything for the
// request: pieces of 1, 2, 4 ... bytes up to a whole block are compressed once,
// each so that it can follow any other, and a gzip stream of a size is the
// pieces that add up to it.

// gzipHeader is a gzip header with deflate, no name, no time and an unknown system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// deflateEnd is a last, empty block.
var deflateEnd = []byte{0x01, 0x00, 0x00, 0xff, 0xff}

// pieces holds the compressed pieces by the logarithm of their size.
var pieces = sync.OnceValue(func() [][]byte {
	var pieces [][]byte
	for size := 1; size <= blockSize; size *= 2 {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.DefaultCompression)
		_, _ = w.Write(block()[:size]) // a buffer takes everything
		_ = w.Flush()
		pieces = append(pieces, out.Bytes())
	}
	return pieces
})

// gzipOfSize puts gzipped content together whose plain size is the given one.
func gzipOfSize(size int64) response.Content {
	if size == 0 {
		return response.Content{}
	}
	parts := make([][]byte, 0, int(size/blockSize)+bits.Len(blockSize)+2)
	parts = append(parts, gzipHeader)
	sum := uint32(0)
	for rest := size; rest > 0; {
		log := min(bits.Len64(uint64(rest)), bits.Len(blockSize)) - 1
		parts = append(parts, pieces()[log])
		sum = checksums()[log].after(sum)
		rest -= 1 << log
	}
	trailer := make([]byte, 0, len(deflateEnd)+8)
	trailer = append(trailer, deflateEnd...)
	trailer = binary.LittleEndian.AppendUint32(trailer, sum)
	trailer = binary.LittleEndian.AppendUint32(trailer, uint32(size))
	parts = append(parts, trailer)
	content := response.Content{Parts: parts}
	for _, part := range parts {
		content.Size += int64(len(part))
	}
	return content
}

// checksum is the CRC of a piece of random content, and how the CRC of what is
// before it goes into that of both: no byte is read again for it.
type checksum struct {
	sum uint32
	// shift is x to the number of bits in the piece.
	shift uint32
}

// after returns the CRC of something and the piece behind it, from the CRC of that.
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
