// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// longestDuration is the longest text that is read as a duration.
const longestDuration = 100

var days = regexp.MustCompile(`[0-9]*\.?[0-9]+d`)

// ParseDuration returns the duration that a text such as `500ms`, `1m30s` or
// `7d` stands for. It reads what time.ParseDuration does, and days of 24 hours,
// once.
func ParseDuration(text string) (time.Duration, error) {
	if len(text) > longestDuration {
		return 0, fmt.Errorf("a text of %d bytes is not a duration", len(text))
	}
	seen := 0
	hours := days.ReplaceAllStringFunc(text, func(part string) string {
		seen++
		n, _ := strconv.ParseFloat(part[:len(part)-1], 64)
		return strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(hours)
	if err != nil || seen > 1 {
		return 0, fmt.Errorf("'%s' is not a duration: expected a number and a unit, like 500ms, 1m30s or 7d", text)
	}
	return d, nil
}
