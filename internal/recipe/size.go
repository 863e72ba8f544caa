// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as a whole number and a unit: `100b`,
// `428kb`, `2mb`. Units are powers of 1024, in any case.
type Size int64

// largest is the largest size of random content.
const largest Size = 64 << 30

var sizeUnits = []struct {
	name string
	size Size
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"b", 1}}

// ParseSize reads a size.
func ParseSize(text string) (Size, error) {
	lower := strings.ToLower(text)
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(lower, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			break
		}
		if n > uint64(math.MaxInt64/unit.size) || Size(n)*unit.size > largest {
			return 0, fmt.Errorf("size '%s' is too large: at most %s", text, largest)
		}
		return Size(n) * unit.size, nil
	}
	return 0, fmt.Errorf("'%s' is not a size: expected a whole number and one of b, kb, mb, like 428kb", text)
}

// String gives the text that ParseSize reads as the same size.
func (s Size) String() string {
	for _, unit := range []string{"gb", "mb", "kb"} {
		for _, u := range sizeUnits {
			if u.name == unit && s != 0 && s%u.size == 0 {
				return strconv.FormatInt(int64(s/u.size), 10) + unit
			}
		}
	}
	return strconv.FormatInt(int64(s), 10) + "b"
}

// SizeRange is a size or a range of sizes: `300kb..400kb`.
type SizeRange struct {
	Lower, Upper Size
}

// ParseSizeRange reads a size or a range of sizes.
func ParseSizeRange(text string) (SizeRange, error) {
	lowerText, upperText, isRange := strings.Cut(text, "..")
	lower, err := ParseSize(lowerText)
	if err != nil || !isRange {
		return SizeRange{lower, lower}, err
	}
	upper, err := ParseSize(upperText)
	if err != nil {
		return SizeRange{}, err
	}
	if upper < lower {
		return SizeRange{}, fmt.Errorf("range '%s' is reversed", text)
	}
	return SizeRange{lower, upper}, nil
}

// String gives the text that ParseSizeRange reads as the same range.
func (r SizeRange) String() string {
	if r.Lower == r.Upper {
		return r.Lower.String()
	}
	return r.Lower.String() + ".." + r.Upper.String()
}

// MarshalText writes the range as text.
func (r SizeRange) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
