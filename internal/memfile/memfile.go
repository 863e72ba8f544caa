// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package memfile keeps bodies that many responses share, in memory and, where
// the system has them, in files in memory: the kernel can send from such a file
// without copying the bytes.
package memfile

import (
	"os"
	"sync"
)

// Body is bytes that many responses send, whole or from their beginning.
type Body struct {
	bytes  []byte
	once   sync.Once
	inFile Extent // a copy of the bytes
}

// Extent is a place in a file in memory. The file is closed when no extent of
// it is left.
type Extent struct {
	File   *os.File // nil if there is no file
	Offset int64    // of the first byte, in bytes
}

// New returns a body of these bytes, which must never change.
func New(bytes []byte) *Body { return &Body{bytes: bytes} }

// Bytes returns the body as it is in memory. It must not be changed.
func (b *Body) Bytes() []byte { return b.bytes }

// InFile returns a copy of the body in a file in memory, which is made at the
// first call. The extent has no file if the system has none to give.
func (b *Body) InFile() Extent {
	b.once.Do(func() { b.inFile = copyToFile(b.bytes) })
	return b.inFile
}
