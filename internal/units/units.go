// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package units has the values that options are written in, as text and in JSON:
// shares, sizes and durations; and the checks of what users write in files.
package units

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"
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

// CheckField refuses a header field that no HTTP message can carry.
func CheckField(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("'%s' is not a header field name", name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("the value of %s has a character that a header field cannot carry", name)
	}
	return nil
}

// CheckJSON returns where data stops being one JSON value and why: the line and
// the column, both counted from 1, the column in characters.
func CheckJSON(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var anything json.RawMessage
	err := json.Unmarshal(data, &anything)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := data[:min(max(int(syntax.Offset)-1, 0), len(data))]
		begin := bytes.LastIndexByte(before, '\n') + 1
		return fmt.Errorf("line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(before[begin:]), err)
	}
	return err
}

// TrimBOM takes the mark off that some editors put before a text of UTF-8.
func TrimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }

// LookedIn adds the directory that a relative path was looked for in to an error
// of opening it.
func LookedIn(err error, path string) error {
	directory, failed := os.Getwd()
	if err == nil || failed != nil || filepath.IsAbs(path) {
		return err
	}
	return fmt.Errorf("%w (looked in %s)", err, directory)
}

// InField returns an error of reading a T from JSON as one to which encoding/json
// adds the name of the field: it does for no other kind. It is nil if there is none.
func InField[T any](err error) error {
	if err == nil {
		return nil
	}
	return &json.UnmarshalTypeError{Value: fmt.Sprintf("a value (%v)", err), Type: reflect.TypeFor[T]()}
}
