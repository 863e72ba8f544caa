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

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// repaired is what became of a file.
type repaired struct {
	whole string // its name, if it is whole now
	lost  int64  // bytes that were cut off; all of them if there is no name
}

// repair finishes a file that a crash left behind: it keeps all that was written
// whole, writes the end and gives the file its name, or removes it if nothing
// is in it. It leaves alone what a living recorder writes, which is no error,
// and what is no recording, which is ErrStrange.
func repair(path string) (repaired, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return repaired{}, err
	}
	defer file.Close()
	if tryLock(file) != locked {
		return repaired{}, nil
	}
	info, err := file.Stat()
	if err != nil || !isAt(path, info) { // finished by its recorder a moment ago
		return repaired{}, err
	}
	whole := strings.TrimSuffix(path, openExtension)
	kept, err := wholePart(io.NewSectionReader(file, 0, math.MaxInt64), strings.HasSuffix(whole, lz4Extension))
	if err != nil {
		if errors.Is(err, ErrStrange) {
			err = fmt.Errorf("%s %w", path, err)
		}
		return repaired{}, err
	}
	lost := info.Size() - kept.Disk
	if kept.Disk == 0 {
		return repaired{lost: lost}, os.Remove(path)
	}
	if _, err := os.Lstat(whole); err == nil {
		return repaired{}, fmt.Errorf("%s exists", filepath.Base(whole))
	}
	var end []byte
	switch {
	case kept.Open && kept.Summed:
		end = frame.AppendEnd(nil, &kept.Content)
	case kept.Open:
		end = binary.LittleEndian.AppendUint32(nil, 0)
	}
	if len(end) > 0 {
		if _, err := file.WriteAt(end, kept.Disk); err != nil {
			return repaired{}, err
		}
	}
	if size := kept.Disk + int64(len(end)); size < info.Size() {
		if err := file.Truncate(size); err != nil {
			return repaired{}, err
		}
	}
	return repaired{whole, lost}, os.Rename(path, whole)
}

// wholePart returns where the part of a file ends that can be kept: up to its
// last whole record or, if it is compressed, the last block that decodes, with
// which a record ends, and whose records can be read like all before. A power
// failure may have left zeros instead of what was written.
func wholePart(file io.Reader, compressed bool) (frame.Mark, error) {
	in := bufio.NewReaderSize(file, 64<<10)
	start, err := in.Peek(4)
	switch {
	case len(start) == 0 && errors.Is(err, io.EOF):
		return frame.Mark{}, nil
	case err != nil && !errors.Is(err, io.EOF):
		return frame.Mark{}, err
	case compressed && !frame.Is(start), !compressed && len(start) == 4 && frame.Is(start):
		return frame.Mark{}, ErrStrange // also frames under the name of a plain file
	}
	var kept frame.Mark
	var ahead []frame.Mark // blocks that were read, of which records are not yet
	var source io.Reader = in
	if compressed {
		source = frame.NewReader(in, func(m frame.Mark) { ahead = append(ahead, m) })
	}
	records := recording.NewReader(source)
	for err = nil; err == nil; {
		_, err = records.Next()
		at := records.Offset()
		if !compressed {
			kept.Disk = at
		}
		for len(ahead) > 0 && ahead[0].Raw <= at {
			if ahead[0].Raw == at {
				kept = ahead[0]
			}
			ahead = ahead[1:]
		}
	}
	switch {
	case errors.As(err, new(*fs.PathError)): // the disk, not what is on it
		return frame.Mark{}, err
	case errors.Is(err, recording.ErrNotRecording):
		return frame.Mark{}, ErrStrange
	}
	if kept.Raw == 0 && compressed {
		return frame.Mark{}, nil // an empty frame is worth nothing
	}
	return kept, nil
}
