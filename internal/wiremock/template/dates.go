// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

func compileNow(c *call) (evaluator, error) {
	shift, err := c.offset()
	if err != nil {
		return nil, err
	}
	zone, err := c.zone()
	if err != nil {
		return nil, err
	}
	format, given, err := c.knownOption("format")
	switch {
	case err != nil:
		return nil, err
	case !given:
		return func(*scope) any { return shift(time.Now().UTC()).Format("2006-01-02T15:04:05Z") }, nil
	case format == "epoch":
		return func(*scope) any { return shift(time.Now().In(zone)).UnixMilli() }, nil
	case format == "unix":
		return func(*scope) any { return shift(time.Now().In(zone)).Unix() }, nil
	}
	layout, err := eval.CompileDateFormat(format)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		if !s.budget.Spend(len(format)) {
			return nil
		}
		return string(layout.Append(nil, shift(time.Now().In(zone))))
	}, nil
}

func (c *call) zone() (*time.Location, error) {
	name, given, err := c.knownOption("timezone")
	if err != nil || !given {
		return time.UTC, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("timezone '%s' is not known", name)
	}
	return zone, nil
}

// offset compiles a text like `3 days` or `-10 seconds`.
func (c *call) offset() (func(time.Time) time.Time, error) {
	text, given, err := c.knownOption("offset")
	if err != nil || !given {
		return func(t time.Time) time.Time { return t }, err
	}
	return eval.ParseShift(text)
}
