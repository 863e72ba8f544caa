// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outputFile is a file that appears under its name when it is whole.
type outputFile struct {
	io.Writer
	file *os.File // nil: standard output, or it is closed
	name string   // what --output says
	to   string   // what it is renamed to; empty: it is no regular file and written in place
}

// createOutput opens what --output names, before anything is read for it.
func createOutput(name string, stdout io.Writer) (*outputFile, error) {
	if name == stdinArg {
		return &outputFile{Writer: stdout}, nil
	}
	to := name
	if info, err := os.Stat(name); err == nil {
		switch {
		case info.IsDir():
			return nil, errIsFolder(name)
		case !info.Mode().IsRegular():
			file, err := os.OpenFile(name, os.O_WRONLY, 0)
			return &outputFile{Writer: file, file: file, name: name}, outputError(name, err)
		}
		if real, err := filepath.EvalSymlinks(name); err == nil { // a link stays one
			to = real
		}
	}
	file, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*")
	if err != nil {
		return nil, outputError(name, err)
	}
	return &outputFile{Writer: file, file: file, name: name, to: to}, nil
}

func errIsFolder(name string) error {
	return fmt.Errorf("--output: '%s' is a folder: expected the name of a file", name)
}

// outputError returns an error with the name that --output says in place of that
// of a file beside it.
func outputError(name string, err error) error {
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	} else if at, ok := errors.AsType[*os.LinkError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("--output: %s: %w", name, err)
}

// keep renames the whole file to its name.
func (o *outputFile) keep() error {
	if o.file == nil {
		return nil
	}
	file := o.file
	err := file.Close()
	o.file = nil
	if o.to != "" && err == nil {
		err = os.Rename(file.Name(), o.to)
	}
	if o.to != "" && err != nil {
		os.Remove(file.Name())
	}
	return outputError(o.name, err)
}

// discard removes what was written, unless it was kept.
func (o *outputFile) discard() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.to != "" {
		os.Remove(o.file.Name())
	}
}

// checkOutput returns why a file could not be written, in a folder that may have
// to be made first. It leaves nothing behind.
func checkOutput(name string) error {
	if info, err := os.Stat(name); err == nil {
		switch {
		case info.IsDir():
			return errIsFolder(name)
		case !info.Mode().IsRegular():
			return nil
		}
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			err = file.Close()
		}
		return outputError(name, err)
	}
	dir := filepath.Dir(name)
	for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = parent
	}
	file, err := os.CreateTemp(dir, ".rehearsal.*")
	if err != nil {
		return outputError(name, err)
	}
	return outputError(name, errors.Join(file.Close(), os.Remove(file.Name())))
}
