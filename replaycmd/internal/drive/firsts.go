// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"sync/atomic"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// firsts are the first failures of each kind: one tells more of its kind than a
// number does.
type firsts [send.Kinds]atomic.Pointer[error]

// note keeps an error if it is the first of its kind.
func (f *firsts) note(err error) {
	first := &f[send.KindOf(err)]
	if first.Load() == nil {
		first.CompareAndSwap(nil, &err)
	}
}

// errors gives what was kept, by kind.
func (f *firsts) errors() (all []error) {
	for i := range f {
		if err := f[i].Load(); err != nil {
			all = append(all, *err)
		}
	}
	return all
}
