// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// minShared is from which size on it pays to send a piece of a body from a
// file in memory instead of having it copied from the heap.
const minShared = 16 << 10

// block is memory that Share was told of. It does not keep that memory alive.
type block struct {
	start, end uintptr
	once       sync.Once
	file       int // its copy that sendfile reads, -1 if there is none
}

// blocks are all that are alive, by address.
var blocks struct {
	sync.Mutex
	sorted atomic.Pointer[[]*block]
}

// Share tells that many answers will send body, or parts of it, and that it
// never changes. On Linux these are then sent without being copied.
func Share(body []byte) {
	if len(body) < minShared || !canShare {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(body)))
	b := &block{start: start, end: start + uintptr(len(body)), file: -1}
	update(func(all []*block) []*block { return append(all, b) })
	runtime.AddCleanup(unsafe.SliceData(body), forget, b)
}

// forget lets go of a block whose memory nobody has any more.
func forget(b *block) {
	update(func(all []*block) []*block {
		return slices.DeleteFunc(all, func(other *block) bool { return other == b })
	})
	b.once.Do(func() {}) // whatever came first, the file is known
	closeFile(b.file)
}

func update(change func([]*block) []*block) {
	blocks.Lock()
	defer blocks.Unlock()
	var all []*block
	if known := blocks.sorted.Load(); known != nil {
		all = slices.Clone(*known)
	}
	all = change(all)
	slices.SortFunc(all, func(a, b *block) int { return cmp.Compare(a.start, b.start) })
	blocks.sorted.Store(&all)
}

// shared finds the file that has a piece of a body, and where in it. The piece
// keeps the block alive for as long as the caller keeps the piece.
func shared(piece []byte) (file int, offset int64, ok bool) {
	all := blocks.sorted.Load()
	if all == nil || len(piece) < minShared {
		return -1, 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(piece)))
	i, found := slices.BinarySearchFunc(*all, at, func(b *block, at uintptr) int { return cmp.Compare(b.start, at) })
	if !found {
		i--
	}
	if i < 0 || at+uintptr(len(piece)) > (*all)[i].end {
		return -1, 0, false
	}
	b := (*all)[i]
	b.once.Do(func() {
		first := unsafe.Add(unsafe.Pointer(unsafe.SliceData(piece)), -int(at-b.start))
		b.file = copyToFile(unsafe.Slice((*byte)(first), b.end-b.start))
	})
	return b.file, int64(at - b.start), b.file >= 0
}
