// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"os"
	"sync"
)

// minFromFile is from which size on it pays to send a body from a file in
// memory instead of having it copied from the heap.
const minFromFile = 16 << 10

// Block is bytes that many answers send, whole or from their beginning.
type Block struct {
	bytes []byte
	once  sync.Once
	copy  extent // of the bytes, in memory
}

// extent is where in a file something lies. The file is nil if there is none,
// and closed when no extent of it is left.
type extent struct {
	file   *os.File
	offset int64
}

// NewBlock makes a block of bytes, which must never change.
func NewBlock(bytes []byte) *Block { return &Block{bytes: bytes} }

// inFile gives a copy of the block that can be sent without being copied again,
// if the system has one to give. It is made when it is first needed.
func (b *Block) inFile() extent {
	b.once.Do(func() { b.copy = inMemory(b.bytes) })
	return b.copy
}

// RespondFrom sends a whole answer whose body is the first length bytes of a
// block. It does what Respond does; on Linux a large body is not copied.
func (x *Exchange) RespondFrom(status int, fields *Fields, block *Block, length int) {
	var from extent
	if x.conn.bare && length >= minFromFile {
		from = block.inFile()
	}
	if from.file == nil {
		x.Respond(status, fields, block.bytes[:length])
		return
	}
	x.head(status, fields, int64(length))
	if x.sendsBody(status) {
		x.conn.sendFile(from, length)
	}
}
