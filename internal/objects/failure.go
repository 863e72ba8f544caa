// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"regexp"
	"strings"
)

// failure is an error of a driver, in one line and without the queries of URLs,
// which some stores have signatures in.
type failure struct {
	name string // of what it is about
	err  error
}

// failed returns what went wrong with an object, or with those of a prefix.
func (b *Bucket) failed(key string, err error) error { return failure{b.address.name(key), err} }

var queries = regexp.MustCompile(`(https?://[^\s?"']*)\?[^\s"']*`)

// Error returns the name and the driver's text.
func (f failure) Error() string {
	text := strings.Join(strings.Fields(f.err.Error()), " ")
	return f.name + ": " + queries.ReplaceAllString(text, "$1?...")
}

// Unwrap returns the driver's error.
func (f failure) Unwrap() error { return f.err }
