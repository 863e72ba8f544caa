// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// adopt finishes a file that a crash left behind: it cuts off what was not
// written whole and gives the file its name. It leaves alone what a living
// recorder writes. An empty name says that there was nothing to adopt.
func adopt(path string) (whole string, lost int64, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	if tryLock(file) != locked {
		return "", 0, nil
	}
	info, err := file.Stat()
	if err != nil || !isAt(path, info) { // finished by its recorder a moment ago
		return "", 0, err
	}
	whole = strings.TrimSuffix(path, openExtension)
	size, err := wholeSize(file, strings.HasSuffix(whole, lz4Extension))
	if err != nil {
		return "", 0, err
	}
	lost = info.Size() - size
	if size == 0 {
		return "", lost, os.Remove(path)
	}
	if _, err := os.Lstat(whole); err == nil {
		return "", 0, fmt.Errorf("%s exists", filepath.Base(whole))
	}
	if lost > 0 {
		if err := file.Truncate(size); err != nil {
			return "", 0, err
		}
	}
	return whole, lost, os.Rename(path, whole)
}

// wholeSize gives the size of a file up to the end of its last whole frame or,
// if it is not compressed, record. A power failure may have left zeros instead
// of what was written, so a frame is whole only if its checksums are right.
func wholeSize(file io.ReaderAt, compressed bool) (int64, error) {
	next := skipRecord
	if compressed {
		next = skipFrame
	}
	var size int64
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, math.MaxInt64), 64<<10)
	for {
		n, err := next(in)
		if err == nil && compressed {
			_, err = io.Copy(io.Discard, lz4.NewReader(io.NewSectionReader(file, size, n)))
		}
		switch {
		case err == nil:
			size += n
		case errors.As(err, new(*fs.PathError)): // the disk, not what is on it
			return 0, err
		default:
			return size, nil
		}
	}
}

func skipRecord(in *bufio.Reader) (int64, error) {
	var length [8]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n == 0 || n > recording.MaxRecord {
		return 0, errNoFrame
	}
	return int64(n) + 8, discard(in, int64(n))
}

var errNoFrame = errors.New("no frame starts here")

const (
	frameMagic   = 0x184D2204
	frameFlags   = 1<<6 | 1<<5 | 1<<4 | 1<<2 // version 1, independent blocks, checksums of blocks and of the frame
	uncompressed = 1 << 31
)

// skipFrame passes over a frame as this package writes it.
func skipFrame(in *bufio.Reader) (int64, error) {
	var header [7]byte // magic, flags, block size, header checksum
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(header[:]) != frameMagic || header[4] != frameFlags {
		return 0, errNoFrame
	}
	total := int64(len(header))
	for {
		var block [4]byte
		if _, err := io.ReadFull(in, block[:]); err != nil {
			return 0, err
		}
		size := int64(binary.LittleEndian.Uint32(block[:]) &^ uncompressed)
		rest := size + 4 // with the checksum of the block or, after the last, of the frame
		if err := discard(in, rest); err != nil {
			return 0, err
		}
		total += 4 + rest
		if size == 0 {
			return total, nil
		}
	}
}

// discard passes over n bytes.
func discard(in *bufio.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, in, n)
	return err
}
