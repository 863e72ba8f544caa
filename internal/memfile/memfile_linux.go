// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package memfile

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of the pages that files in memory are made of, where the
// system has such: the kernel has some work with every page that it sends, so
// that a body in small ones costs up to half as much again.
const hugePage = 2 << 20

// arena is a file in memory that many bodies share, since few fill a huge page.
type arena struct {
	mu   sync.Mutex
	file *os.File // nil before the first body
	used int64
}

var bodies arena

// maxArenas bounds the memory of arenas: one lives as long as any body in it.
const maxArenas = 512

var arenas atomic.Int64

// copyToFile copies a body into a file that takes no disk.
func copyToFile(body []byte) Extent {
	if len(body) > hugePage/2 {
		return written(newFile(len(body)), 0, body)
	}
	bodies.mu.Lock()
	defer bodies.mu.Unlock()
	if bodies.file == nil || bodies.used+int64(len(body)) > hugePage {
		bodies.file, bodies.used = newArena(), 0
	}
	e := written(bodies.file, bodies.used, body)
	bodies.used = roundUp(bodies.used+int64(len(body)), int64(os.Getpagesize()))
	return e
}

// newArena returns a file for an arena, nil if the limit or the system allows
// no more.
func newArena() *os.File {
	if arenas.Load() >= maxArenas {
		return nil
	}
	file := newFile(hugePage)
	if file != nil {
		arenas.Add(1)
		runtime.AddCleanup(file, func(struct{}) { arenas.Add(-1) }, struct{}{})
	}
	return file
}

// written writes a body to its place in a file.
func written(file *os.File, offset int64, body []byte) Extent {
	if file == nil {
		return Extent{}
	}
	if _, err := file.WriteAt(body, offset); err != nil {
		return Extent{}
	}
	return Extent{file, offset}
}

// newFile makes a file in memory for size bytes, nil if the system has none to
// give.
func newFile(size int) *os.File {
	fd, err := unix.MemfdCreate("bodies", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "bodies")
	gatherPages(file, roundUp(size, hugePage))
	return file
}

// gatherPages asks the kernel to use huge pages for a file. Where it cannot,
// the file stays as it is.
func gatherPages(file *os.File, size int) {
	space, err := unix.Mmap(-1, 0, size+hugePage, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return
	}
	defer func() { _ = unix.Munmap(space) }()
	unaligned := uintptr(unsafe.Pointer(unsafe.SliceData(space))) % hugePage
	aligned := space[hugePage-unaligned:][:size]
	_, err = unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(unsafe.SliceData(aligned)), uintptr(size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err == nil && file.Truncate(int64(size)) == nil {
		for i := 0; i < size; i += hugePage { // of nothing the kernel makes no huge page
			if _, err := file.WriteAt([]byte{0}, int64(i)); err != nil {
				return
			}
		}
		_ = unix.Madvise(aligned, unix.MADV_COLLAPSE)
	}
}

func roundUp[T int | int64](size, to T) T { return (size + to - 1) / to * to }
