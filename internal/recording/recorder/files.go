// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// files is the file that is being written and those around it.
type files struct {
	options  *Options
	troubles *troubles
	create   createFunc
	current  *output
	left     bool            // a file is left behind that can be finished
	strange  map[string]bool // files that have a name of ours and are no recordings
}

var errGone = errors.New("the file that was being written was moved or deleted")

// ErrStrange is the error of a file that has the name of a recording and is none.
var ErrStrange = errors.New("is not a recording, and left as it is")

// append writes the blocks of a batch, and returns how many bytes they take on
// disk. If a file does not take them, another is tried.
func (f *files) append(blocks []byte, b *batch) (int64, bool) {
	if f.current != nil && f.current.gone() {
		f.troubles.failed(LostFile, errGone, "", 0)
		_ = f.current.close() // wherever it is, it is whole
		f.current = nil
	}
	if f.current != nil && f.current.size > 0 && f.current.size+int64(len(blocks))+frame.EndSize > int64(f.options.RotateSize) {
		f.rotate()
	}
	fresh := f.current == nil
	if fresh && !f.open(b.count) {
		return 0, false
	}
	disk, err := f.current.append(blocks, b.records)
	if err != nil && !fresh {
		f.troubles.failed(WriteFile, err, "", 0)
		f.finish()
		if !f.open(b.count) {
			return 0, false
		}
		disk, err = f.current.append(blocks, b.records)
	}
	if err != nil {
		f.troubles.failed(WriteFile, err, NotWritten, b.count)
		f.finish()
	}
	return disk, err == nil
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
	size := f.current.size
	f.current = nil
	switch {
	case err != nil:
		f.left = true
		f.troubles.failed(FinishFile, err, "", 0)
	case path != "":
		if !f.options.Compression.none {
			f.troubles.observer.Recorded(0, 0, frame.EndSize)
		}
		f.troubles.observer.Finished(path, size)
		if f.left { // the disk takes something again
			f.tidy(time.Now())
		} else {
			f.clean(time.Now())
		}
	}
}

// tidy finishes what crashes have left behind and deletes what is outdated.
func (f *files) tidy(now time.Time) {
	f.left = false
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
		if entry.Type().IsRegular() && isOpen(f.options.Prefix, entry.Name()) && !f.strange[path] && (f.current == nil || path != f.current.path) {
			f.adopt(path)
		}
	}
	f.clean(now)
}

// adopt finishes a file that was left behind, unless somebody still writes it.
func (f *files) adopt(path string) {
	found, err := repair(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case errors.Is(err, ErrStrange):
		f.strange[path] = true
		f.troubles.failed(AdoptFile, err, "", 0)
	case err != nil:
		f.troubles.failed(AdoptFile, err, "", 0)
	case found.whole != "":
		f.troubles.observer.Adopted(found.whole, found.lost)
	case found.lost > 0:
		f.troubles.observer.Deleted(path, found.lost, "left behind without a whole record")
	}
}

// outdated returns the files that a rule lets go, of files sorted from the
// newest to the oldest. The newest stays within any number and any size.
func (k Keep) outdated(files []Stored, now time.Time) []Stored {
	var total int64
	for i, file := range files {
		total += file.Size
		switch {
		case k.files > 0 && i >= k.files,
			k.bytes > 0 && total > k.bytes && i > 0,
			k.age > 0 && now.Sub(file.Modified) > k.age:
			return files[i:]
		}
	}
	return nil
}

// clean deletes the files that no rule keeps.
func (f *files) clean(now time.Time) {
	if len(f.options.Keep) == 0 {
		return
	}
	there, err := f.stored()
	if err != nil {
		f.troubles.failed(DeleteFile, err, "", 0)
		return
	}
	for _, rule := range f.options.Keep {
		outdated := rule.outdated(there, now)
		there = there[:len(there)-len(outdated)]
		for _, file := range outdated {
			f.delete(file, "keep "+rule.String())
		}
	}
}

// delete deletes a file if it is a recording.
func (f *files) delete(file Stored, why string) {
	path := filepath.Join(f.options.Dir, file.Name)
	err := CheckRecording(path)
	if err == nil {
		err = os.Remove(path)
	}
	switch {
	case err == nil:
		f.troubles.observer.Deleted(path, file.Size, why)
	case errors.Is(err, os.ErrNotExist):
	default:
		f.strange[path] = errors.Is(err, ErrStrange)
		f.troubles.failed(DeleteFile, err, "", 0)
	}
}

// CheckRecording returns an error if a file does not begin like a recording, or
// one that is damaged.
func CheckRecording(path string) error {
	file, err := recording.OpenFile(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Next(); errors.Is(err, recording.ErrNotRecording) {
		return fmt.Errorf("%s %w", path, ErrStrange)
	}
	return nil
}

// stored returns the whole files of the directory, the newest first.
func (f *files) stored() ([]Stored, error) {
	there, err := Whole(f.options.Dir, f.options.Prefix)
	there = slices.DeleteFunc(there, func(file Stored) bool { return f.strange[filepath.Join(f.options.Dir, file.Name)] })
	slices.Reverse(there)
	return there, err
}

// Stored is a whole file in a directory.
type Stored struct {
	Name     string
	Size     int64 // in bytes
	Modified time.Time
}

// Whole returns the files in a directory that have names of whole recordings of
// the prefix, the oldest first.
func Whole(dir, prefix string) ([]Stored, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var there []Stored
	for _, entry := range entries {
		if !isWhole(prefix, entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			there = append(there, Stored{Name: entry.Name(), Size: info.Size(), Modified: info.ModTime()})
		}
	}
	slices.SortFunc(there, func(a, b Stored) int { return strings.Compare(a.Name, b.Name) })
	return there, nil
}
