// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/binary"
	"errors"
)

var errNotRequest = errors.New("not a request record")

// kind is how a field of a table is stored.
type kind int

const (
	bytesKind kind = iota // string or vector of bytes
	shortKind
	longKind
	responseKind
)

var (
	requestKinds = []kind{
		bytesKind, bytesKind, bytesKind, bytesKind, bytesKind, longKind, bytesKind, bytesKind,
		bytesKind, bytesKind, longKind, bytesKind, responseKind, bytesKind,
	}
	responseKinds = []kind{shortKind, bytesKind, bytesKind, longKind, bytesKind, longKind, bytesKind}
)

// verify makes sure that the generated accessors, which trust every offset,
// stay within the record.
func verify(record []byte) error {
	v := verifier(record)
	root, ok := v.uint32(0)
	if !ok || !v.table(uint64(root), requestKinds) {
		return errNotRequest
	}
	return nil
}

type verifier []byte

func (v verifier) holds(at, size uint64) bool {
	return at <= uint64(len(v)) && size <= uint64(len(v))-at
}

func (v verifier) uint16(at uint64) (uint16, bool) {
	if !v.holds(at, 2) {
		return 0, false
	}
	return binary.LittleEndian.Uint16(v[at:]), true
}

func (v verifier) uint32(at uint64) (uint32, bool) {
	if !v.holds(at, 4) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(v[at:]), true
}

func (v verifier) table(at uint64, kinds []kind) bool {
	back, ok := v.uint32(at)
	if !ok {
		return false
	}
	vtable := uint64(int64(at) - int64(int32(back)))
	vtableSize, ok1 := v.uint16(vtable)
	tableSize, ok2 := v.uint16(vtable + 2)
	if !ok1 || !ok2 || vtableSize < 4 || vtableSize%2 != 0 || !v.holds(vtable, uint64(vtableSize)) || !v.holds(at, uint64(tableSize)) {
		return false
	}
	slots := min((int(vtableSize)-4)/2, len(kinds))
	for slot := range slots {
		offset, _ := v.uint16(vtable + 4 + 2*uint64(slot))
		if offset != 0 && !v.field(at, offset, tableSize, kinds[slot]) {
			return false
		}
	}
	return true
}

func (v verifier) field(table uint64, offset, tableSize uint16, k kind) bool {
	size := uint16(4)
	switch k {
	case shortKind:
		size = 2
	case longKind:
		size = 8
	case bytesKind, responseKind:
	}
	if offset < 4 || uint32(offset)+uint32(size) > uint32(tableSize) {
		return false
	}
	if k == shortKind || k == longKind {
		return true
	}
	at := table + uint64(offset)
	forward, _ := v.uint32(at)
	target := at + uint64(forward)
	if k == responseKind {
		return v.table(target, responseKinds)
	}
	length, ok := v.uint32(target)
	return ok && v.holds(target+4, uint64(length))
}
