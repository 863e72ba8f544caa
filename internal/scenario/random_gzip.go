// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// Random content of any size is gzipped without compressing anything for the
// request: pieces of 1, 2, 4 ... bytes up to a whole block are compressed once,
// each so that it can follow any other, and a gzip stream of a size is the
// pieces that add up to it.

// gzipHeader says deflate, no name, no time, unknown system.
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
