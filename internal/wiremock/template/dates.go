// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

var dateHelpers = map[string]helper{
	"now":          {least: 0, most: 0, named: []string{"offset", "format", "timezone"}, compile: compileNow},
	"date":         {least: 0, most: 1, named: []string{"offset", "format", "timezone"}, compile: compileDate},
	"parseDate":    {least: 1, most: 1, named: []string{"format"}, compile: compileParseDate},
	"truncateDate": {least: 2, most: 2, compile: compileTruncateDate},
	"dateFormat":   {least: 1, most: 2, named: []string{"format"}, compile: compileDateFormat},
}

// date is a time with how it is written.
type date struct {
	at     time.Time
	format *eval.DateFormat // nil: ISO 8601
	zone   *time.Location   // nil: UTC
}

func (d date) append(buffer []byte, b *eval.Budget) []byte {
	zone := d.zone
	if zone == nil {
		zone = time.UTC
	}
	if !b.Spend(32) {
		return buffer
	}
	if d.format == nil {
		return d.at.In(zone).AppendFormat(buffer, "2006-01-02T15:04:05Z07:00")
	}
	start := len(buffer)
	buffer = d.format.Append(buffer, d.at.In(zone))
	b.Spend(len(buffer) - start)
	return buffer
}

// dateOptions are the named arguments of now and date, each compiled once where it
// is a plain text.
type dateOptions struct {
	shift  func(s *scope) (func(time.Time) time.Time, error)
	zone   func(s *scope) (*time.Location, error)
	format func(s *scope) (*eval.DateFormat, error)
}

func (c *call) dateOptions() (o dateOptions, err error) {
	if o.shift, err = optional(c, "offset", eval.ParseShift); err != nil {
		return o, err
	}
	if o.zone, err = optional(c, "timezone", loadZone); err != nil {
		return o, err
	}
	o.format, err = optional(c, "format", eval.CompileDateFormat)
	return o, err
}

// optional is compiled for a named argument that may be missing, or null: then it
// returns nothing.
func optional[T any](c *call, name string, compile func(string) (T, error)) (func(s *scope) (T, error), error) {
	o, given := c.named[name]
	if !given || o.isKnown && o.literal == nil {
		return func(*scope) (none T, err error) { return none, nil }, nil
	}
	return compiled(c, name, o, compile)
}

// zoneOffset is a zone of Java's that is a distance from GMT, as in GMT+5:30.
var zoneOffset = regexp.MustCompile(`\A(?:GMT)?([+-])(\d\d?)(?::?(\d\d))?\z`)

// farthest is how far a zone may be from GMT.
const farthest = 18 * time.Hour

func loadZone(name string) (*time.Location, error) {
	if name == "Z" {
		return time.UTC, nil
	}
	if parts := zoneOffset.FindStringSubmatch(name); parts != nil {
		offset, err := time.ParseDuration(parts[1] + parts[2] + "h" + cmp.Or(parts[3], "0") + "m")
		if err == nil && offset.Abs() <= farthest {
			return time.FixedZone("", int(offset/time.Second)), nil
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("timezone '%s' is not known", name)
	}
	return zone, nil
}

// written returns a time as the options have it. A zone that the time has of its
// own comes before that of the options.
func (o dateOptions) written(s *scope, at time.Time, own *time.Location) any {
	shift, err := o.shift(s)
	if err != nil {
		return problem("%v", err)
	}
	zone, err := o.zone(s)
	if err != nil {
		return problem("%v", err)
	}
	format, err := o.format(s)
	if err != nil {
		return problem("%v", err)
	}
	if shift != nil {
		at = shift(at.UTC())
	}
	if own != nil {
		zone = own
	}
	return date{at, format, zone}
}

func compileNow(c *call) (evaluator, error) {
	o, err := c.dateOptions()
	return func(s *scope) any { return o.written(s, time.Now(), nil) }, err
}

// compileDate compiles a date that is given, or now, in another form.
func compileDate(c *call) (evaluator, error) {
	o, err := c.dateOptions()
	if len(c.args) == 0 || err != nil {
		return func(s *scope) any { return o.written(s, time.Now(), nil) }, err
	}
	return func(s *scope) any {
		if d, ok := c.args[0].value(s).(date); ok {
			own := d.zone
			if own == nil {
				own = time.UTC
			}
			return o.written(s, d.at, own)
		}
		return o.written(s, time.Now(), nil)
	}, nil
}

func compileParseDate(c *call) (evaluator, error) {
	format, err := optional(c, "format", eval.CompileDateFormat)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		f, err := format(s)
		if err != nil {
			return problem("%v", err)
		}
		text := c.text(s, 0)
		m, ok := eval.ParseMoment(text)
		if f != nil {
			m, ok = f.Parse(text)
		} else {
			ok = ok && m.Zoned // without a pattern WireMock wants a zone
		}
		switch {
		case !ok:
			return nil
		case m.Zoned:
			return date{at: m.Time, zone: m.Time.Location()}
		}
		return date{at: m.Time}
	}, nil
}

func compileTruncateDate(c *call) (evaluator, error) {
	truncation, err := compiled(c, "truncation", c.args[1], func(name string) (func(time.Time) time.Time, error) {
		if truncate := eval.Truncation(name); truncate != nil {
			return truncate, nil
		}
		return nil, fmt.Errorf("there is no truncation '%s'", name)
	})
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		d, ok := c.args[0].value(s).(date)
		if !ok {
			return problem("A date object must be passed to the truncateDate helper")
		}
		truncate, err := truncation(s)
		if err != nil {
			return problem("%v", err)
		}
		zone := d.zone
		if zone == nil {
			zone = time.UTC
		}
		return date{at: truncate(d.at.In(zone)), zone: zone}
	}, nil
}

// compileDateFormat compiles a date with a pattern, as an argument or by name.
func compileDateFormat(c *call) (evaluator, error) {
	if len(c.args) == 2 {
		c.named["format"] = c.args[1]
	}
	format, err := optional(c, "format", eval.CompileDateFormat)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		d, ok := c.args[0].value(s).(date)
		if !ok {
			return problem("dateFormat needs a date")
		}
		f, err := format(s)
		if err != nil {
			return problem("%v", err)
		}
		d.format = f
		return d
	}, nil
}
