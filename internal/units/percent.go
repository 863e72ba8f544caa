// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package units has the values that options are written in, as text and in JSON:
// shares, sizes and durations; and the checks of what users write in files.
package units

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
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

// InField returns an error of reading a T from JSON as one to which encoding/json
// adds the name of the field: it does for no other kind. It is nil if there is none.
func InField[T any](err error) error {
	if err == nil {
		return nil
	}
	return &json.UnmarshalTypeError{Value: fmt.Sprintf("a value (%v)", err), Type: reflect.TypeFor[T]()}
}
