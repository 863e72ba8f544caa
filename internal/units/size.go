// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes. As text it is a number with an optional unit:
// `512`, `64KiB`, `1MiB` (powers of 1024) or `64KB`, `1MB` (powers of 1000).
// In JSON it is that text or a plain number of bytes. Recipes have sizes of
// their own, in which `64kb` is 65,536 bytes as their authors expect.
type Size int64

const sizeUnits = "one of the units B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (powers of 1000) or none"

// ParseSize reads a size. It refuses what is negative, has an unknown unit or
// does not fit into 63 bits.
func ParseSize(text string) (Size, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not a size: expected a number and %s, like 1MiB", text, sizeUnits)
	}
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("size '%s' is too large", text)
	}
	return Size(n), nil
}

// String returns the shortest text that ParseSize reads back as the same size.
func (s Size) String() string {
	if s > 0 {
		for _, unit := range []struct {
			name string
			size Size
		}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
			if s%unit.size == 0 {
				return strconv.FormatInt(int64(s/unit.size), 10) + unit.name
			}
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalText writes the size as text.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the size from text.
func (s *Size) UnmarshalText(text []byte) error {
	parsed, err := ParseSize(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// UnmarshalJSON reads the size from text or from a plain number of bytes.
func (s *Size) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		return s.UnmarshalText([]byte(text))
	}
	var n int64
	if err := json.Unmarshal(data, &n); err != nil || n < 0 {
		return fmt.Errorf("%s is not a size: expected a number of bytes, or text with %s", data, sizeUnits)
	}
	*s = Size(n)
	return nil
}
