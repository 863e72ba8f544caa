// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stored is a whole file in the directory.
type stored struct {
	name     string
	size     int64
	modified time.Time
}

// outdated gives the files that a rule lets go, of files sorted from the
// newest to the oldest. The newest stays within any number and any size.
func (k Keep) outdated(files []stored, now time.Time) []stored {
	var total int64
	for i, file := range files {
		total += file.size
		switch {
		case k.files > 0 && i >= k.files,
			k.bytes > 0 && total > k.bytes && i > 0,
			k.age > 0 && now.Sub(file.modified) > k.age:
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
			if err := os.Remove(filepath.Join(f.options.Dir, file.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				f.troubles.failed(DeleteFile, err, "", 0)
			}
		}
	}
}

// stored gives the whole files of the directory, the newest first.
func (f *files) stored() ([]stored, error) {
	entries, err := os.ReadDir(f.options.Dir)
	if err != nil {
		return nil, err
	}
	var there []stored
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && isWhole(f.options.Prefix, entry.Name()) {
			there = append(there, stored{name: entry.Name(), size: info.Size(), modified: info.ModTime()})
		}
	}
	slices.SortFunc(there, func(a, b stored) int { return strings.Compare(b.name, a.name) })
	return there, nil
}
