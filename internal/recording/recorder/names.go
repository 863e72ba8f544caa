// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	openExtension  = ".tmp"
	plainExtension = ".fbf"
	lz4Extension   = ".lz4"
)

// fileName gives a name that sorts by time and is most probably unique.
func fileName(o *Options, now time.Time) string {
	now = now.UTC()
	return fmt.Sprintf("%s_%s_%06d-%08x%s", o.Prefix, now.Format("20060102T150405Z"), now.Nanosecond()/1000, rand.Uint32(), o.Compression.extension())
}

// isWhole tells whether a whole recording of the prefix has such a name.
func isWhole(prefix, name string) bool {
	stamp, ok := strings.CutPrefix(name, prefix+"_")
	if !ok {
		return false
	}
	stamp = strings.TrimSuffix(stamp, lz4Extension)
	stamp, ok = strings.CutSuffix(stamp, plainExtension)
	if !ok || len(stamp) < len("20060102T150405Z_") {
		return false
	}
	_, err := time.Parse("20060102T150405Z_", stamp[:len("20060102T150405Z_")])
	return err == nil
}

// isOpen tells whether a recording that is being written, or was when its
// writer ended, has such a name.
func isOpen(prefix, name string) bool {
	whole, ok := strings.CutSuffix(name, openExtension)
	return ok && isWhole(prefix, whole)
}
