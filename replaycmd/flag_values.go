// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// value is a flag whose text has a parser.
type value[T any] struct {
	to    func(T)
	parse func(string) (T, error)
	kind  string
	text  string
	texts []string // all that were given
	limit bool     // it may be given once only
}

// single returns a flag that is given once.
func single[T any](to *T, kind string, parse func(string) (T, error)) *value[T] {
	return &value[T]{to: func(v T) { *to = v }, parse: parse, kind: kind}
}

// several returns a flag that may be repeated.
func several[T any](to *[]T, kind string, parse func(string) (T, error)) *value[T] {
	return &value[T]{to: func(v T) { *to = append(*to, v) }, parse: parse, kind: kind}
}

// lists returns a flag of several values that may be repeated.
func lists[T any](to *[]T, kind string, parse func(string) ([]T, error)) *value[[]T] {
	return &value[[]T]{to: func(v []T) { *to = append(*to, v...) }, kind: kind, parse: parse}
}

// words returns a flag of words between commas that may be repeated.
func words[T any](to *[]T, kind string, parse func(string) (T, error)) *value[[]T] {
	return lists(to, kind, func(text string) ([]T, error) {
		var all []T
		for word := range strings.SplitSeq(text, ",") {
			v, err := parse(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	})
}

// once refuses the flag the second time: the last one doesn't replace the first.
func (v *value[T]) once() *value[T] {
	v.limit = true
	return v
}

// or sets the flag to its default, which the help shows.
func (v *value[T]) or(text string) *value[T] {
	if err := v.Set(text); err != nil {
		panic(err)
	}
	v.texts = nil // which nobody has given
	return v
}

// Set parses the text of the flag.
func (v *value[T]) Set(text string) error {
	if v.limit && v.text != "" {
		return fmt.Errorf("it is given twice: expected one of '%s' and '%s'", v.text, text)
	}
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	v.to(parsed)
	v.text, v.texts = text, append(v.texts, text)
	return nil
}

// String returns the text of the flag.
func (v *value[T]) String() string { return v.text }

// Given returns the texts of the flag, each time that it was given.
func (v *value[T]) Given() []string { return v.texts }

// Type returns what the flag takes.
func (v *value[T]) Type() string { return v.kind }

func parseText(text string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("expected a text that is not empty")
	}
	return text, nil
}

// parseDuration reads a duration above zero.
func parseDuration(text string) (time.Duration, error) {
	d, err := caddy.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("'%s' is not a duration above 0: expected one like 10s", text)
	}
	return d, nil
}

// parseDelay reads a duration that may be zero; a bare number is milliseconds.
func parseDelay(text string) (time.Duration, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Millisecond, nil
	}
	d, err := caddy.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("'%s' is not a delay: expected a duration like 50ms, or milliseconds", text)
	}
	return d, nil
}

// parseCount reads a number above zero.
func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("'%s' is not a number above 0", text)
	}
	return n, nil
}

// parseFew reads a number from 1 up to what one machine can hold of anything.
func parseFew(text string) (int, error) {
	n, err := parseCount(text)
	if err != nil || n > math.MaxUint16 {
		return 0, fmt.Errorf("'%s' is not a number from 1 to %d", text, math.MaxUint16)
	}
	return int(n), nil
}

func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("'%s' is not a time: expected one like 2026-11-30T14:35:00Z", text)
	}
	return at, nil
}
