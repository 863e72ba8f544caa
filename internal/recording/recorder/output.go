// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

const (
	openExtension  = ".tmp"
	plainExtension = ".fbf"
	lz4Extension   = ".lz4"
)

// fileName returns a name that sorts by time and is most probably unique.
func fileName(o *Options, now time.Time) string {
	now = now.UTC()
	return fmt.Sprintf("%s_%s_%06d-%08x%s", o.Prefix, now.Format("20060102T150405Z"), now.Nanosecond()/1000, rand.Uint32(), o.Compression.extension())
}

// ownName is the form of the names that fileName returns.
var ownName = regexp.MustCompile(`^(.+)_(\d{8}T\d{6}Z_\d{6})-[0-9a-f]{8}\.fbf(\.lz4)?$`)

// ParseName returns the prefix that the name of a whole recording has, and when
// the file was begun; ok is false for any other name.
func ParseName(name string) (prefix string, begun time.Time, ok bool) {
	match := ownName.FindStringSubmatch(name)
	if match == nil {
		return "", time.Time{}, false
	}
	begun, err := time.Parse("20060102T150405.000000", strings.Replace(match[2], "Z_", ".", 1))
	return match[1], begun, err == nil
}

// isWhole reports whether a whole recording of the prefix has such a name.
func isWhole(prefix, name string) bool {
	own, _, ok := ParseName(name)
	return ok && own == prefix
}

// isOpen reports whether a recording that is being written, or was when its
// writer ended, has such a name.
func isOpen(prefix, name string) bool {
	whole, ok := strings.CutSuffix(name, openExtension)
	return ok && isWhole(prefix, whole)
}

// extension returns what file names end in.
func (c Compression) extension() string {
	if c.none {
		return plainExtension
	}
	return plainExtension + lz4Extension
}

// output is a file that is being written. All that it has can be read after
// every append.
type output struct {
	file       storage
	path       string // with .tmp
	info       os.FileInfo
	size       int64
	compressed bool
	content    frame.Hash // of the records, if they are compressed
	opened     time.Time
}

// createFunc opens a new file.
type createFunc func(*Options, time.Time) (*output, error)

// storage is what an output needs of its file.
type storage interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Close() error
}

// createTries is how often a name is tried that is taken.
const createTries = 10

// create opens a new file in the directory, which it makes if need be. It
// never touches a file that is there.
func create(o *Options, now time.Time) (*output, error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, err
	}
	for range createTries {
		whole := filepath.Join(o.Dir, fileName(o, now))
		if _, err := os.Lstat(whole); err == nil {
			continue
		}
		path := whole + openExtension
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out, err := prepare(file, path, os.FileMode(o.Mode), now)
		if out != nil {
			out.compressed = !o.Compression.none
		}
		if out != nil || err != nil {
			return out, err
		}
	}
	return nil, fmt.Errorf("no free file name in %s", o.Dir)
}

// prepare locks a new file and sets its mode. It returns nothing if
// another recorder, cleaning up, took the empty file for one left behind.
func prepare(file *os.File, path string, mode os.FileMode, now time.Time) (*output, error) {
	taken := tryLock(file) == lockedByOther
	info, err := file.Stat()
	if err == nil && !taken {
		taken = !isAt(path, info)
	}
	if err == nil && !taken && info.Mode().Perm() != mode { // whatever the umask is
		err = file.Chmod(mode)
	}
	if err != nil || taken {
		file.Close()
		if err != nil {
			os.Remove(path)
		}
		return nil, err
	}
	return &output{file: file, path: path, info: info, opened: now}, nil
}

// isAt reports whether a path still leads to the file.
func isAt(path string, info os.FileInfo) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(there, info)
}

// append writes blocks of records, in the first of which a file without any
// begins, or nothing of them. It returns how many bytes they take on disk.
func (out *output) append(blocks, records []byte) (int64, error) {
	before := out.size
	if out.compressed && before == 0 {
		if err := out.write([]byte(frame.Header)); err != nil {
			return 0, err
		}
	}
	if err := out.write(blocks); err != nil {
		if before == 0 && out.size > 0 {
			err = errors.Join(err, out.cut(0))
		}
		return 0, err
	}
	if out.compressed {
		out.content.Add(records)
	}
	return out.size - before, nil
}

// write writes data or nothing of it.
func (out *output) write(data []byte) error {
	n, err := out.file.Write(data)
	if err == nil {
		out.size += int64(n)
		return nil
	}
	if n > 0 {
		err = errors.Join(err, out.cut(out.size))
	}
	return err
}

func (out *output) cut(size int64) error {
	err := out.file.Truncate(size)
	if err == nil {
		out.size = size
	}
	return err
}

// gone reports whether the file was moved away or deleted.
func (out *output) gone() bool { return !isAt(out.path, out.info) }

// close writes the end of the file and closes it.
func (out *output) close() error {
	var err error
	if out.compressed && out.size > 0 {
		err = out.write(frame.AppendEnd(nil, &out.content))
	}
	return errors.Join(err, out.file.Close())
}

// finish closes the file and returns the name that it has then, or removes it if
// nothing is in it. A file whose end was not written keeps its name, and is
// adopted like what a crash leaves.
func (out *output) finish() (string, error) {
	if out.size == 0 {
		return "", errors.Join(out.close(), os.Remove(out.path))
	}
	if err := out.close(); err != nil {
		return "", err
	}
	whole := strings.TrimSuffix(out.path, openExtension)
	return whole, os.Rename(out.path, whole)
}

// lockState is what came of trying to lock a file.
type lockState int

const (
	locked lockState = iota

	// lockedByOther: another recorder, of this process or any other, writes the file.
	lockedByOther

	// lockUnknown: the system or the file system has no locks.
	lockUnknown
)
