// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes. As text it is a number with an optional unit:
// `512`, `64KiB`, `1MiB` (powers of 1024) or `64KB`, `1MB` (powers of 1000).
// In JSON it is that text or a plain number of bytes. Recipes have a BinarySize
// instead, in which `64kb` is 65,536 bytes.
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
		return InField[Size](s.UnmarshalText([]byte(text)))
	}
	var n int64
	if err := json.Unmarshal(data, &n); err != nil || n < 0 {
		return InField[Size](fmt.Errorf("%s is not a size: expected a number of bytes, or text with %s", data, sizeUnits))
	}
	*s = Size(n)
	return nil
}

// BinarySize is a number of bytes as recipes write it, which is
// origin_simulator's way: a whole number and a unit in any case, `100b`, `428kb`,
// `2mb`, with units that are powers of 1024. So `64kb` is 65,536 bytes here and
// 64,000 as a Size, which has `64KiB` for the former.
type BinarySize int64

// largest is the largest BinarySize, that of the largest random content.
const largest BinarySize = 64 << 30

var binaryUnits = []struct {
	name string
	size BinarySize
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"b", 1}}

// ParseBinarySize reads a size. It refuses what has no unit, is not a whole
// number or is more than 64gb.
func ParseBinarySize(text string) (BinarySize, error) {
	lower := strings.ToLower(text)
	for _, unit := range binaryUnits {
		digits, ok := strings.CutSuffix(lower, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			break
		}
		if n > uint64(math.MaxInt64/unit.size) || BinarySize(n)*unit.size > largest {
			return 0, fmt.Errorf("size '%s' is too large: at most %s", text, largest)
		}
		return BinarySize(n) * unit.size, nil
	}
	return 0, fmt.Errorf("'%s' is not a size: expected a whole number and one of b, kb, mb, gb, like 428kb", text)
}

// String returns the text that ParseBinarySize reads as the same size.
func (s BinarySize) String() string {
	for _, unit := range []string{"gb", "mb", "kb"} {
		for _, u := range binaryUnits {
			if u.name == unit && s != 0 && s%u.size == 0 {
				return strconv.FormatInt(int64(s/u.size), 10) + unit
			}
		}
	}
	return strconv.FormatInt(int64(s), 10) + "b"
}
