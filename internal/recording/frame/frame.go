// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package frame is the LZ4 frames that recordings are stored in: what is written
// around compressed blocks, and a reader of frames that knows where it is.
//
// A recording is one frame of independent blocks without checksums of their own,
// ended by a checksum of all that it holds. The lz4 package, which compresses
// the blocks, writes and reads frames too, but not one that grows over hours, is
// compressed on several processors and is whole after each block.
package frame

import (
	"encoding/binary"
	"slices"
)

const (
	magic        = 0x184D2204
	uncompressed = 1 << 31 // in the size of a block

	version1     = 1 << 6
	independent  = 1 << 5
	blockSums    = 1 << 4
	contentSize  = 1 << 3
	contentSum   = 1 << 2
	dictionaryID = 1
)

const (
	// BlockSize is the most that a block holds, in bytes.
	BlockSize = 256 << 10

	blockSizeCode = 5 << 4 // of BlockSize, in the header

	// EndSize is the size of what AppendEnd adds, in bytes.
	EndSize = 8
)

// Header is what a frame starts with.
var Header = func() string {
	header := binary.LittleEndian.AppendUint32(nil, magic)
	descriptor := []byte{version1 | independent | contentSum, blockSizeCode}
	return string(append(append(header, descriptor...), byte(hash(descriptor)>>8)))
}()

// AppendBlock adds a block of data to dst. The data, at most BlockSize, is
// compressed by compress if that makes it smaller; nil stores it as it is.
func AppendBlock(dst, data []byte, compress func(src, dst []byte) (int, error)) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = slices.Grow(dst, len(data))
	if compress != nil && len(data) > 0 {
		n, err := compress(data, dst[at+4:at+4+len(data)-1]) // fails if that is too short
		if err == nil && n > 0 {
			binary.LittleEndian.PutUint32(dst[at:], uint32(n))
			return dst[:at+4+n]
		}
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(data))|uncompressed)
	return append(dst, data...)
}

// AppendEnd adds the end of a frame to dst: the mark, and the checksum of all
// that its blocks hold.
func AppendEnd(dst []byte, content *Hash) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, content.Sum())
}
