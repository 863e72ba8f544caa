// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"encoding/binary"
)

// Records that hardly shrink, since their bodies are compressed already or
// random, would still cost as much to compress as all else that is done for
// them. While they do not shrink by a fifth, one batch of sixteen is tried and
// the others are stored as they are.
const (
	worthwhile = 5 // the part of a batch, as a divisor, that compression has to save
	storedRow  = 15
)

// shrinks tells whether compression is worth its time.
func shrinks(raw, compressed int) bool { return compressed <= raw-raw/worthwhile }

// storedHeader starts a frame like the lz4 package does with the options of
// newWriter: blocks of 256 KiB at most.
var storedHeader = func() []byte {
	header := binary.LittleEndian.AppendUint32(nil, frameMagic)
	descriptor := []byte{frameFlags, 5 << 4}
	return append(append(header, descriptor...), byte(xxh32(descriptor)>>8))
}()

// writeStored writes a frame of one block that is not compressed. So its
// checksum is also that of the frame.
func writeStored(w *bytes.Buffer, block []byte) {
	w.Grow(len(storedHeader) + len(block) + 16)
	sum := binary.LittleEndian.AppendUint32(nil, xxh32(block))
	w.Write(storedHeader)
	w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), uint32(len(block))|uncompressed))
	w.Write(block)
	w.Write(sum)
	w.Write([]byte{0, 0, 0, 0}) // no other block
	w.Write(sum)
}
