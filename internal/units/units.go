// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package units has the values that options are written in, as text and in JSON:
// shares, sizes and durations; and the checks of what users write in files.
package units

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Percent is a share from 0 to 100. As text it is a number with an optional
// percent sign: `12.5` or `12.5%`. In JSON it is a plain number or that text.
//
// Options whose default is 100 hold a *Percent: nothing given and an explicit
// 0 differ.
type Percent float64

// ParsePercent reads a share and refuses what is not within 0 and 100.
func ParsePercent(text string) (Percent, error) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(f >= 0 && f <= 100) {
		return 0, fmt.Errorf("'%s' is not a percentage: expected a number from 0 to 100", text)
	}
	return Percent(f), nil
}

// Takes reports whether the share has u, a number drawn or hashed evenly from
// all of uint64's. What a smaller share takes, a larger one takes as well; nil
// takes everything.
func (p *Percent) Takes(u uint64) bool {
	const bits = 53 // what a float64 holds
	return p == nil || float64(u>>(64-bits))/(1<<bits)*100 < float64(*p)
}

// String returns the share without a percent sign.
func (p Percent) String() string { return strconv.FormatFloat(float64(p), 'g', -1, 64) }

// MarshalJSON writes the share as a plain number.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads the share from a plain number or from text.
func (p *Percent) UnmarshalJSON(data []byte) (err error) {
	*p, err = PercentOfJSON(data)
	return InField[Percent](err)
}

// PercentOfJSON returns the share that JSON has as a plain number or as text.
func PercentOfJSON(data []byte) (Percent, error) {
	text := string(data)
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return 0, err
		}
	}
	return ParsePercent(text)
}

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
