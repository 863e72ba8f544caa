// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Rate is a number of requests per second. As text it is a number with an
// optional unit of time: `500`, `500/s`, `90/m`, `3/10s`.
type Rate float64

// ParseRate reads a rate and refuses what is not above zero.
func ParseRate(text string) (Rate, error) {
	wrong := fmt.Errorf("'%s' is not a rate: expected a number above 0 and a unit of time, like 500/s", text)
	number, unit, given := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, wrong
	}
	per := time.Second
	if given {
		if unit != "" && (unit[0] < '0' || unit[0] > '9') {
			unit = "1" + unit
		}
		if per, err = units.ParseDuration(unit); err != nil || per <= 0 {
			return 0, wrong
		}
	}
	rate := n / per.Seconds()
	// beyond one a nanosecond and below one in centuries the schedule has no numbers
	if !(rate >= 1e-9 && rate <= 1e9) {
		return 0, wrong
	}
	return Rate(rate), nil
}

// String returns the rate per second.
func (r Rate) String() string {
	if r == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64) + "/s"
}

// Set reads the rate from a flag.
func (r *Rate) Set(text string) (err error) {
	*r, err = ParseRate(text)
	return err
}

// Type names the form of the flag's value.
func (*Rate) Type() string { return "N/s" }

// Speed is how many times faster than recorded. As text it is a number with an
// optional x: `2x`, `0.5x`.
type Speed float64

// ParseSpeed reads a speed and refuses what is not above zero.
func ParseSpeed(text string) (Speed, error) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(f >= 1e-6 && f <= 1e6) {
		return 0, fmt.Errorf("'%s' is not a speed: expected a factor above 0, like 2x", text)
	}
	return Speed(f), nil
}

// String returns the speed with its x.
func (s Speed) String() string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(s), 'g', -1, 64) + "x"
}

// Set reads the speed from a flag.
func (s *Speed) Set(text string) (err error) {
	*s, err = ParseSpeed(text)
	return err
}

// Type names the form of the flag's value.
func (*Speed) Type() string { return "FACTOR" }
