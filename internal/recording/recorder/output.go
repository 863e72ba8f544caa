// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// output is a file that is being written. It is a whole recording after every
// append.
type output struct {
	file   storage
	path   string // with .tmp
	info   os.FileInfo
	size   int64
	opened time.Time
}

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
		if out != nil || err != nil {
			return out, err
		}
	}
	return nil, fmt.Errorf("no free file name in %s", o.Dir)
}

// prepare locks a new file and gives it its mode. It returns nothing if
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

// isAt tells whether a path still leads to the file.
func isAt(path string, info os.FileInfo) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(there, info)
}

// append writes a frame or nothing of it.
func (out *output) append(frame []byte) error {
	n, err := out.file.Write(frame)
	if err == nil {
		out.size += int64(n)
		return nil
	}
	if n > 0 {
		if cut := out.file.Truncate(out.size); cut != nil {
			err = errors.Join(err, cut)
		}
	}
	return err
}

// gone tells whether the file was moved away or deleted.
func (out *output) gone() bool { return !isAt(out.path, out.info) }

// finish closes the file and gives it its name, or removes it if nothing is in it.
func (out *output) finish() (string, error) {
	err := out.file.Close()
	if out.size == 0 {
		return "", errors.Join(err, os.Remove(out.path))
	}
	if err != nil {
		return "", err
	}
	whole := strings.TrimSuffix(out.path, openExtension)
	return whole, os.Rename(out.path, whole)
}
