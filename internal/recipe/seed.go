// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"fmt"
	"strconv"
)

// LargestSeed is the largest seed. Caddy reads its configuration with numbers of
// 53 bits, so that a larger one would become another on its way.
const LargestSeed = 1<<53 - 1

const seedKind = "a whole number up to 9007199254740991"

// ParseSeed reads a seed from text.
func ParseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not %s", text, seedKind)
	}
	return seed, CheckSeed(&seed)
}

// CheckSeed refuses a seed that is there and too large.
func CheckSeed(seed *uint64) error {
	if seed != nil && *seed > LargestSeed {
		return fmt.Errorf("%d is not %s", *seed, seedKind)
	}
	return nil
}
