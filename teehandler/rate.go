// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/time/rate"
)

// Rate is a number of requests per second, as text `50/s` or `0.5/s`.
type Rate float64

// UnmarshalText reads the rate and refuses what is not positive.
func (r *Rate) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "/s")
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(f > 0) || math.IsInf(f, 1) {
		return fmt.Errorf("'%s' is not a rate: expected requests per second, like 50/s", text)
	}
	*r = Rate(f)
	return nil
}

// MarshalText writes the rate as text.
func (r Rate) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s"), nil
}

// limiter allows one second's worth at once.
func (r Rate) limiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(r), int(math.Ceil(min(float64(r), math.MaxInt32))))
}
