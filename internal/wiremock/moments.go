// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// moment is before, after or equalToDateTime: a date, or one at an offset from
// now, that a date in a request is compared with.
type moment struct {
	name, text     string
	holds          func(c int) bool
	at             eval.Moment
	shift          func(time.Time) time.Time // from now; nil: at is fixed
	format         *eval.DateFormat          // nil: those that need none
	truncate       func(time.Time) time.Time // of what is expected, from now
	truncateActual func(time.Time) time.Time
	truncateLast   bool // after the offset
	now            func() time.Time
}

func (p *moment) String() string { return p.name + " '" + p.text + "'" }

func (p *moment) matches(v value) bool {
	if !v.present || !v.budget.Read(len(v.text)) {
		return false
	}
	read := eval.ParseMoment
	if p.format != nil {
		read = p.format.Parse
	}
	actual, ok := read(v.text)
	return ok && p.holds(p.compare(actual))
}

// compare compares by the clock on the wall if what is expected has no zone.
func (p *moment) compare(actual eval.Moment) int {
	expected := p.at
	if p.shift != nil {
		expected = eval.Moment{Time: p.fromNow(), Zoned: true}
	}
	if p.truncateActual != nil && actual.Zoned && (expected.Zoned || p.format == nil) {
		actual.Time = p.truncateActual(actual.Time)
	}
	if !expected.Zoned {
		return actual.Wall().Compare(expected.Wall())
	}
	return actual.Time.Compare(expected.Time)
}

func (p *moment) fromNow() time.Time {
	now := p.now().UTC()
	switch {
	case p.truncate == nil:
		return p.shift(now)
	case p.truncateLast:
		return p.truncate(p.shift(now))
	}
	return p.shift(p.truncate(now))
}

// offsetText is what counts from now instead of being a date.
var offsetText = regexp.MustCompile(`\A(?i)(now|(now )?[-+]?[0-9]+ [a-z]+)\z`)

// onMoment returns a parser of conditions on dates.
func onMoment(name string, holds func(c int) bool) func(*fields, json.RawMessage) (pattern, error) {
	return func(f *fields, data json.RawMessage) (pattern, error) {
		p := &moment{name: name, holds: holds, now: time.Now}
		if err := json.Unmarshal(data, &p.text); err != nil {
			return nil, plain(err)
		}
		err := p.parseExpected(f)
		if err != nil && !errors.Is(err, errNoDate) {
			return nil, err
		}
		if failed := p.parseActual(f); failed != nil {
			return nil, failed
		}
		if err != nil {
			return f.unmet(name, p.text, err), nil
		}
		return p, nil
	}
}

// errNoDate is that of a text with which no date can be compared.
var errNoDate = errors.New("is neither a date nor like 'now +3 days'")

func (p *moment) parseExpected(f *fields) (err error) {
	var amount int
	unit := ""
	hasAmount, err := f.into("expectedOffset", &amount)
	if err != nil {
		return err
	}
	if _, err = f.into("expectedOffsetUnit", &unit); err != nil {
		return err
	}
	switch {
	case !offsetText.MatchString(p.text):
		var ok bool
		if p.at, ok = eval.ParseMoment(p.text); !ok {
			return fmt.Errorf("'%s' %w", p.text, errNoDate)
		}
	case hasAmount && unit != "":
		p.shift, err = eval.Shift(amount, unit)
	default:
		p.shift, err = eval.ParseShift(p.text)
	}
	return err
}

func (p *moment) parseActual(f *fields) (err error) {
	format := ""
	given, err := f.into("actualFormat", &format)
	if err != nil {
		return err
	}
	if given {
		if p.format, err = eval.CompileDateFormat(format); err != nil {
			return f.located("actualFormat", err)
		}
	}
	if _, err = f.into("applyTruncationLast", &p.truncateLast); err != nil {
		return err
	}
	if p.truncate, err = f.truncation("truncateExpected"); err != nil {
		return err
	}
	p.truncateActual, err = f.truncation("truncateActual")
	return err
}

func (f *fields) truncation(field string) (func(time.Time) time.Time, error) {
	name := ""
	given, err := f.into(field, &name)
	if err != nil || !given {
		return nil, err
	}
	truncate := eval.Truncation(name)
	if truncate == nil {
		return nil, f.errorf(field, "there is no truncation '%s'", strings.TrimSpace(name))
	}
	return truncate, nil
}
