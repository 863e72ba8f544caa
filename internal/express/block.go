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
	file  *os.File // a copy of them in memory, nil if there is none; closed when nobody has the block any more
}

// NewBlock makes a block of bytes, which must never change.
func NewBlock(bytes []byte) *Block { return &Block{bytes: bytes} }

// inFile gives a copy of the block that can be sent without being copied again,
// and nil if the system has none to give. It is made when it is first needed.
func (b *Block) inFile() *os.File {
	b.once.Do(func() { b.file = fileInMemory(b.bytes) })
	return b.file
}

// RespondFrom sends a whole answer whose body is the first length bytes of a
// block. It does what Respond does; on Linux a large body is not copied.
func (x *Exchange) RespondFrom(status int, fields *Fields, block *Block, length int) {
	var file *os.File
	if x.conn.bare && length >= minFromFile {
		file = block.inFile()
	}
	if file == nil {
		x.Respond(status, fields, block.bytes[:length])
		return
	}
	x.head(status, fields, int64(length))
	if x.sendsBody(status) {
		x.conn.sendFile(file, length)
	}
}
