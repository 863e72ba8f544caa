// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Offset is a time since the recipe started. As text it is a duration like
// `4s`; in JSON it is that text or a number of milliseconds.
type Offset time.Duration

// ParseOffset reads the time from text; 0 needs no unit.
func ParseOffset(text string) (Offset, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not a duration: expected a number and a unit, like 4s or 500ms", text)
	}
	return newOffset(d)
}

func newOffset(d time.Duration) (Offset, error) {
	if d < 0 {
		return 0, errors.New("must not be negative")
	}
	return Offset(d), nil
}

// String returns whole seconds or milliseconds where it can.
func (o Offset) String() string {
	d := time.Duration(o)
	switch {
	case d == 0:
		return "0"
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	case d%time.Millisecond == 0:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + "ms"
	}
	return d.String()
}

// MarshalJSON writes 0 as a number and any other time as text.
func (o Offset) MarshalJSON() ([]byte, error) {
	if o == 0 {
		return []byte("0"), nil
	}
	return json.Marshal(o.String())
}

// UnmarshalJSON reads text or a number of milliseconds.
func (o *Offset) UnmarshalJSON(data []byte) (err error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*o, err = ParseOffset(text)
		return err
	}
	var ms float64
	if json.Unmarshal(data, &ms) != nil {
		return fmt.Errorf("expected a duration like \"4s\" or a number of milliseconds, got %s", kind(data))
	}
	if ms > float64(math.MaxInt64/time.Millisecond) {
		return errors.New("is too large")
	}
	*o, err = newOffset(time.Duration(ms * float64(time.Millisecond)))
	return err
}

// Loop is a recipe that begins again. In JSON it is true, or the time after
// which it begins again.
type Loop struct {
	// Period is the time after which the recipe begins again; 0: when the last
	// stage has lasted as long as the one before it.
	Period Offset
}

// MarshalJSON writes true or the period.
func (l Loop) MarshalJSON() ([]byte, error) {
	if l.Period == 0 {
		return []byte("true"), nil
	}
	return json.Marshal(l.Period)
}

// UnmarshalJSON reads true or the period.
func (l *Loop) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		return nil
	}
	if kind(data) != "text" && kind(data) != "a number" {
		return fmt.Errorf("expected true or a duration, got %s", kind(data))
	}
	if err := l.Period.UnmarshalJSON(data); err != nil {
		return err
	}
	return checkPeriod(l.Period)
}

// ParsePeriod reads the time after which a recipe begins again.
func ParsePeriod(text string) (Offset, error) {
	period, err := ParseOffset(text)
	if err != nil {
		return 0, err
	}
	return period, checkPeriod(period)
}

func checkPeriod(period Offset) error {
	if period == 0 {
		return errors.New("must be greater than 0")
	}
	return nil
}

// Period returns the time after which the recipe begins again, or 0.
func (r *Recipe) Period() time.Duration {
	switch last := len(r.Stages) - 1; {
	case r.Loop == nil:
		return 0
	case r.Loop.Period > 0:
		return time.Duration(r.Loop.Period)
	case last == 0:
		return 0
	default:
		return time.Duration(2*r.Stages[last].At - r.Stages[last-1].At)
	}
}

func (r *Recipe) checkLoop() error {
	switch last := len(r.Stages) - 1; {
	case r.Loop == nil:
		return nil
	case r.Loop.Period == 0 && last == 0:
		return errors.New("the only stage has no end: give a period")
	case r.Loop.Period > 0 && r.Loop.Period <= r.Stages[last].At:
		return fmt.Errorf("a period of %s ends before the stage at %s begins", r.Loop.Period, r.Stages[last].At)
	}
	return nil
}
