// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// MarshalJSON writes the latency as text.
func (l Latency) MarshalJSON() ([]byte, error) { return json.Marshal(l.String()) }

// UnmarshalJSON reads the latency from text, from a plain number of
// milliseconds, or from one of WireMock's delay distributions:
//
//	{"type": "fixed", "milliseconds": 100}
//	{"type": "uniform", "lower": 100, "upper": 200}
//	{"type": "lognormal", "median": 70, "sigma": 0.3, "maxValue": 2000}
//
// A missing, unknown or impossible field is an error that names it.
func (l *Latency) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case string(data) == "null":
		return nil
	case len(data) > 0 && data[0] == '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		return l.UnmarshalText([]byte(text))
	}
	parsed, err := parseJSON(data)
	if err != nil {
		return fmt.Errorf("latency %s: %v", data, err)
	}
	*l = parsed
	return nil
}

func parseJSON(data []byte) (Latency, error) {
	if len(data) > 0 && data[0] == '{' {
		return parseObject(data)
	}
	var number float64
	if err := json.Unmarshal(data, &number); err != nil {
		return Latency{}, fmt.Errorf("expected text, a number of milliseconds or an object")
	}
	d, err := milliseconds("number", &number)
	return Fixed(d), err
}

func parseObject(data []byte) (Latency, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return Latency{}, err
	}
	switch kind.Type {
	case "fixed":
		return parseFixedObject(data)
	case "uniform":
		return parseUniformObject(data)
	case "lognormal":
		return parseLognormalObject(data)
	}
	return Latency{}, fmt.Errorf("type '%s' is none of fixed, uniform and lognormal", kind.Type)
}

func parseFixedObject(data []byte) (Latency, error) {
	var object struct {
		Type         string   `json:"type"`
		Milliseconds *float64 `json:"milliseconds"`
	}
	if err := decodeStrictly(data, &object); err != nil {
		return Latency{}, err
	}
	d, err := milliseconds("milliseconds", object.Milliseconds)
	return Fixed(d), err
}

func parseUniformObject(data []byte) (Latency, error) {
	var object struct {
		Type  string   `json:"type"`
		Lower *float64 `json:"lower"`
		Upper *float64 `json:"upper"`
	}
	if err := decodeStrictly(data, &object); err != nil {
		return Latency{}, err
	}
	lower, err := milliseconds("lower", object.Lower)
	if err != nil {
		return Latency{}, err
	}
	upper, err := milliseconds("upper", object.Upper)
	if err != nil {
		return Latency{}, err
	}
	return newRange(lower, upper)
}

func parseLognormalObject(data []byte) (Latency, error) {
	var object struct {
		Type     string   `json:"type"`
		Median   *float64 `json:"median"`
		Sigma    *float64 `json:"sigma"`
		MaxValue *float64 `json:"maxValue"`
	}
	if err := decodeStrictly(data, &object); err != nil {
		return Latency{}, err
	}
	median, err := milliseconds("median", object.Median)
	if err != nil {
		return Latency{}, err
	}
	if object.Sigma == nil {
		return Latency{}, fmt.Errorf("sigma is missing")
	}
	if object.MaxValue == nil {
		return newLognormal(median, *object.Sigma, 0)
	}
	limit, err := milliseconds("maxValue", object.MaxValue)
	if err != nil {
		return Latency{}, err
	}
	if limit == 0 {
		return Latency{}, fmt.Errorf("maxValue is 0")
	}
	return newLognormal(median, *object.Sigma, limit)
}

func decodeStrictly(data []byte, object any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(object)
}

func milliseconds(field string, value *float64) (time.Duration, error) {
	if value == nil {
		return 0, fmt.Errorf("%s is missing", field)
	}
	ns := math.Round(*value * float64(time.Millisecond))
	switch {
	case ns < 0:
		return 0, fmt.Errorf("%s %v is negative", field, *value)
	case ns >= math.MaxInt64:
		return 0, fmt.Errorf("%s %v is too large", field, *value)
	}
	return time.Duration(ns), nil
}
