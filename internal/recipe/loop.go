// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

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
		return errors.New("a period of 0 has no room for a stage")
	}
	return nil
}

// Period gives the time after which the recipe begins again, or 0.
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
