// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Huge pages make sending a large body about a third cheaper, since the kernel
// has some work with every page; but the last one may stay mostly empty.
const (
	hugePage = 2 << 20
	minHuge  = 256 << 10
)

// fileInMemory makes a file that takes no disk; nil if the system has none to
// give.
func fileInMemory(content []byte) *os.File {
	fd, err := unix.MemfdCreate("body", unix.MFD_CLOEXEC)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "body")
	if _, err := file.Write(content); err != nil {
		file.Close()
		return nil
	}
	if len(content) >= minHuge {
		gatherPages(file, len(content))
	}
	return file
}

// gatherPages has the kernel put the content of a file into huge pages. Where
// it cannot, the file stays as it is.
func gatherPages(file *os.File, size int) {
	size = (size + hugePage - 1) &^ (hugePage - 1)
	room, err := unix.Mmap(-1, 0, size+hugePage, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return
	}
	defer func() { _ = unix.Munmap(room) }()
	unaligned := uintptr(unsafe.Pointer(unsafe.SliceData(room))) % hugePage
	aligned := room[hugePage-unaligned:][:size]
	_, err = unix.MmapPtr(int(file.Fd()), 0, unsafe.Pointer(unsafe.SliceData(aligned)), uintptr(size),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err == nil && file.Truncate(int64(size)) == nil {
		_ = unix.Madvise(aligned, unix.MADV_COLLAPSE)
	}
}
