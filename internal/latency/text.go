// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Parse reads a latency from its text. The error names what is wrong: which
// part of a form is missing, not a duration, negative or out of order.
func Parse(text string) (Latency, error) {
	l, err := parse(strings.TrimSpace(text))
	if err != nil {
		return Latency{}, fmt.Errorf("latency '%s': %v", text, err)
	}
	return l, nil
}

func parse(text string) (Latency, error) {
	if lower, upper, ok := strings.Cut(text, ".."); ok {
		return parseRange(lower, upper)
	}
	if name, rest, ok := strings.Cut(text, "("); ok {
		inner, closed := strings.CutSuffix(rest, ")")
		if !closed {
			return Latency{}, fmt.Errorf("the closing parenthesis is missing")
		}
		return parseCall(name, strings.Split(inner, ","))
	}
	if strings.HasPrefix(text, "p") {
		return parseTable(strings.Split(text, ","))
	}
	d, err := parseDuration("duration", text)
	if err != nil {
		return Latency{}, err
	}
	if d < 0 {
		return Latency{}, fmt.Errorf("it is negative")
	}
	return Fixed(d), nil
}

func parseRange(lowerText, upperText string) (Latency, error) {
	lower, err := parseDuration("lower", lowerText)
	if err != nil {
		return Latency{}, err
	}
	upper, err := parseDuration("upper", upperText)
	if err != nil {
		return Latency{}, err
	}
	return newRange(lower, upper)
}

func parseCall(name string, args []string) (Latency, error) {
	switch {
	case name == "lognormal" && (len(args) == 2 || len(args) == 3):
		return parseLognormal(args)
	case name == "lognormal":
		return Latency{}, fmt.Errorf("lognormal takes a median, a sigma and optionally a cap")
	case name == "normal" && len(args) == 2:
		return parseNormal(args[0], args[1])
	case name == "normal":
		return Latency{}, fmt.Errorf("normal takes a mean and a standard deviation")
	}
	return Latency{}, fmt.Errorf("there is no form '%s': expected lognormal or normal", name)
}

func parseLognormal(args []string) (Latency, error) {
	median, err := parseDuration("median", args[0])
	if err != nil {
		return Latency{}, err
	}
	sigma, err := strconv.ParseFloat(strings.TrimSpace(args[1]), 64)
	if err != nil {
		return Latency{}, fmt.Errorf("sigma '%s' is not a number", args[1])
	}
	if len(args) == 2 {
		return newLognormal(median, sigma, 0)
	}
	limit, err := parseDuration("cap", args[2])
	if err != nil {
		return Latency{}, err
	}
	if limit == 0 {
		return Latency{}, fmt.Errorf("cap is 0")
	}
	return newLognormal(median, sigma, limit)
}

func parseNormal(meanText, deviationText string) (Latency, error) {
	mean, err := parseDuration("mean", meanText)
	if err != nil {
		return Latency{}, err
	}
	deviation, err := parseDuration("standard deviation", deviationText)
	if err != nil {
		return Latency{}, err
	}
	return newNormal(mean, deviation)
}

func parseTable(lines []string) (Latency, error) {
	given := make([]percentile, 0, len(lines))
	for _, line := range lines {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		digits, isPercentile := strings.CutPrefix(name, "p")
		percent, err := strconv.ParseFloat(digits, 64)
		if !isPercentile || err != nil || !(percent >= 0 && percent <= 100) {
			return Latency{}, fmt.Errorf("'%s' is not a percentile: expected something like p99=300ms", line)
		}
		d, err := parseDuration(name, value)
		if err != nil {
			return Latency{}, err
		}
		given = append(given, percentile{percent, d})
	}
	return newPercentiles(given)
}

func parseDuration(field, text string) (time.Duration, error) {
	d, err := units.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%s '%s' is not a duration: expected a number with a unit, like 50ms", field, text)
	}
	return d, nil
}

// String returns the text that Parse reads as the same latency.
func (l Latency) String() string {
	if l.form == nil {
		return "0"
	}
	return l.form.String()
}

// MarshalText writes the latency as text.
func (l Latency) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the latency from text.
func (l *Latency) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

func (f fixed) String() string { return durationText(time.Duration(f)) }

func (s spread) String() string {
	return nanoseconds(s.lower) + ".." + nanoseconds(s.upper)
}

func (l lognormal) String() string {
	text := "lognormal(" + nanoseconds(l.median) + "," + strconv.FormatFloat(l.sigma, 'g', -1, 64)
	if l.limit < unlimited {
		text += "," + nanoseconds(l.limit)
	}
	return text + ")"
}

func (n normal) String() string {
	return "normal(" + nanoseconds(n.mean) + "," + nanoseconds(n.deviation) + ")"
}

func nanoseconds(ns float64) string { return durationText(time.Duration(ns)) }

// durationText leaves out the zeros that Duration.String ends on: 1m, not 1m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if d == 0 {
		return "0"
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
