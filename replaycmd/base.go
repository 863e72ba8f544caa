// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// withoutBase returns the fields of an answer with the base path of its target
// taken out of where it leads to: as a target that has none would answer.
func withoutBase(fields []byte, base string) []byte {
	if base == "" {
		return fields
	}
	var without []byte
	found := false
	for name, value := range recording.EachField(fields) {
		if bytes.EqualFold(name, []byte("Location")) {
			location := pathWithoutBase(string(value), base)
			found = found || location != string(value)
			value = []byte(location)
		}
		without = http1.AppendField(without, name, value)
	}
	if !found {
		return fields
	}
	return without
}

// pathWithoutBase takes a base path out of a URL or the path of one.
func pathWithoutBase(location, base string) string {
	path := location
	if _, rest, ok := strings.Cut(location, "://"); ok {
		at := strings.IndexByte(rest, '/')
		if at < 0 {
			return location
		}
		path = rest[at:]
	}
	rest, ok := strings.CutPrefix(path, base)
	switch {
	case !ok || rest != "" && strings.IndexByte("/?#", rest[0]) < 0:
		return location
	case rest == "" || rest[0] != '/':
		rest = "/" + rest
	}
	return location[:len(location)-len(path)] + rest
}
