// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// waiting is a file that is to be sent.
type waiting struct {
	path   string
	size   int64
	failed int  // tries
	sent   bool // someone sends it
	gone   bool // it was deleted meanwhile
}

// add lists a whole file to be sent.
func (u *uploads) add(path string, size int64) {
	u.mu.Lock()
	if u.pending[path] == nil {
		u.pending[path] = &waiting{path: path, size: size}
	}
	u.mu.Unlock()
	u.wakeUp()
}

func (u *uploads) wakeUp() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// deleted notes that a file is gone which was not sent yet: it is lost, unless
// whoever sends it has it open and succeeds.
func (u *uploads) deleted(path string, size int64) {
	u.mu.Lock()
	w := u.pending[path]
	sent := w != nil && w.sent
	if sent {
		w.gone = true
	} else {
		delete(u.pending, path)
	}
	u.mu.Unlock()
	if !sent {
		u.observer.lost(path, size)
	}
}

// pendingBytes returns the size of all files that wait for the store.
func (u *uploads) pendingBytes() (bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, w := range u.pending {
		bytes += w.size
	}
	return bytes
}

// look finds the files in the directory.
func (u *uploads) look() {
	known := u.known()
	there, err := recorder.Whole(u.dir, u.prefix)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			u.failed(u.dir, err)
		}
		return
	}
	u.update(known, there)
}

// known returns the files that wait.
func (u *uploads) known() map[string]*waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.pending)
}

// update notes which files are there, and forgets those that are not, of the ones
// that were known before the directory was read: others may have been finished
// since.
func (u *uploads) update(known map[string]*waiting, there []recorder.Stored) {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := make(map[string]bool, len(there))
	for _, file := range there {
		path := filepath.Join(u.dir, file.Name)
		found[path] = true
		if u.pending[path] == nil && !u.strange[path] {
			u.pending[path] = &waiting{path: path, size: file.Size}
		}
	}
	for path, w := range known {
		if !found[path] && u.pending[path] == w && !w.sent {
			delete(u.pending, path)
		}
	}
}

// due returns the files to be sent: the oldest first, but those last that have
// failed, so that none can be in the way of others.
func (u *uploads) due() []*waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]*waiting, 0, len(u.pending))
	for _, w := range u.pending {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *waiting) int {
		return cmp.Or(cmp.Compare(a.failed, b.failed), strings.Compare(a.path, b.path))
	})
	return all
}
