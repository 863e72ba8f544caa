// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Keep is a rule about which whole files stay. As text it is a number of
// files (`100`), an age (`7d`, `12h`) or bytes on disk (`50GiB`).
type Keep struct {
	files int
	age   time.Duration
	bytes int64
}

// ParseKeep reads the text form. A rule by which nothing stays is refused.
func ParseKeep(text string) (Keep, error) {
	k := Keep{}
	if n, err := strconv.Atoi(text); err == nil {
		k.files = n
	} else if age, err := parseAge(text); err == nil {
		k.age = age
	} else if size, err := humanize.ParseBytes(text); err == nil && size <= 1<<62 {
		k.bytes = int64(size)
	} else {
		return k, fmt.Errorf("'%s' is neither a number of files, an age like 7d nor a size like 50GiB", text)
	}
	if k.files <= 0 && k.age <= 0 && k.bytes <= 0 {
		return k, fmt.Errorf("'%s' would keep nothing", text)
	}
	return k, nil
}

// String gives a text that ParseKeep reads.
func (k Keep) String() string {
	switch {
	case k.files > 0:
		return strconv.Itoa(k.files)
	case k.age > 0:
		return k.age.String()
	}
	return strconv.FormatInt(k.bytes, 10) + "B"
}

// MarshalText writes the rule as text.
func (k Keep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the rule from text.
func (k *Keep) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKeep(string(text))
	return err
}

// parseAge reads a duration that may start with days: `1d12h`.
func parseAge(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	age := time.Duration(n) * 24 * time.Hour
	if err == nil && rest != "" {
		var part time.Duration
		part, err = time.ParseDuration(rest)
		age += part
	}
	return age, err
}
