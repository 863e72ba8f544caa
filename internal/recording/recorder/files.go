// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// files is the file that is being written and those around it.
type files struct {
	options  *Options
	troubles *troubles
	create   func(*Options, time.Time) (*output, error)
	current  *output
}

var errGone = errors.New("the file that was being written was moved or deleted")

// append writes a frame of some records. If a file does not take it, another
// is tried.
func (f *files) append(frame []byte, records int) bool {
	if f.current != nil && f.current.gone() {
		f.troubles.failed(LostFile, errGone, "", 0)
		f.abandon()
	}
	if f.current != nil && f.current.size > 0 && f.current.size+int64(len(frame)) > int64(f.options.RotateSize) {
		f.rotate()
	}
	fresh := f.current == nil
	if fresh && !f.open(records) {
		return false
	}
	err := f.current.append(frame)
	if err != nil && !fresh {
		f.troubles.failed(WriteFile, err, "", 0)
		f.finish()
		if !f.open(records) {
			return false
		}
		err = f.current.append(frame)
	}
	if err != nil {
		f.troubles.failed(WriteFile, err, NotWritten, records)
		f.finish()
	}
	return err == nil
}

// open makes a new file for some records, which are lost if none can be made.
func (f *files) open(records int) bool {
	next, err := f.create(f.options, time.Now())
	if err != nil {
		f.troubles.failed(CreateFile, err, NotWritten, records)
		return false
	}
	f.current = next
	return true
}

// rotate goes on to a new file. While none can be made it stays with the old one.
func (f *files) rotate() {
	next, err := f.create(f.options, time.Now())
	if err != nil {
		f.troubles.failed(CreateFile, err, "", 0)
		return
	}
	f.finish()
	f.current = next
}

// retire finishes a file that is old enough.
func (f *files) retire(now time.Time) {
	if f.current != nil && now.Sub(f.current.opened) >= time.Duration(f.options.RotateEvery) {
		f.finish()
	}
}

// abandon leaves the current file, if there is one, as it is. If it is still
// there it is adopted later, like what a crash leaves.
func (f *files) abandon() {
	if f.current != nil {
		f.current.file.Close()
		f.current = nil
	}
}

// finish ends the current file, if there is one.
func (f *files) finish() {
	if f.current == nil {
		return
	}
	path, err := f.current.finish()
	switch {
	case err != nil:
		f.troubles.failed(FinishFile, err, "", 0)
	case path != "":
		f.troubles.observer.Finished(path, f.current.size)
		f.clean(time.Now())
	}
	f.current = nil
}

// tidy finishes what crashes have left behind and deletes what is outdated.
func (f *files) tidy(now time.Time) {
	entries, err := os.ReadDir(f.options.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		f.troubles.failed(AdoptFile, err, "", 0)
		return
	}
	for _, entry := range entries {
		path := filepath.Join(f.options.Dir, entry.Name())
		if !entry.Type().IsRegular() || !isOpen(f.options.Prefix, entry.Name()) || f.current != nil && path == f.current.path {
			continue
		}
		whole, lost, err := adopt(path)
		switch {
		case err != nil && !errors.Is(err, os.ErrNotExist):
			f.troubles.failed(AdoptFile, err, "", 0)
		case err == nil && (whole != "" || lost > 0):
			f.troubles.observer.Adopted(cmp.Or(whole, path), lost)
		}
	}
	f.clean(now)
}
