// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

var numberHelpers = map[string]helper{
	"numberFormat": {least: 1, most: 2, named: []string{"format", "groupingUsed", "maximumFractionDigits", "minimumFractionDigits", "maximumIntegerDigits", "minimumIntegerDigits", "roundingMode", "locale", "parseIntegerOnly"}, compile: compileNumberFormat},
	"isOdd":        {least: 1, most: 2, compile: compileParity(1, "odd")},
	"isEven":       {least: 1, most: 2, compile: compileParity(0, "even")},
	"stripes":      {least: 3, most: 3, compile: compileStripes},
}

// compileParity compiles a word, or another one, where a number is odd or even.
func compileParity(remainder int64, word string) func(c *call) (evaluator, error) {
	return func(c *call) (evaluator, error) {
		return func(s *scope) any {
			n, ok := integer(c.args[0].value(s))
			switch {
			case !ok || n&1 != remainder:
				return nil
			case len(c.args) == 2:
				return c.args[1].value(s)
			}
			return word
		}, nil
	}
}

func compileStripes(c *call) (evaluator, error) {
	return func(s *scope) any {
		n, ok := integer(c.args[0].value(s))
		if !ok {
			return nil
		}
		return c.args[1+n&1].value(s)
	}, nil
}

// numberFormat is a compiled pattern of Java's DecimalFormat.
type numberFormat struct {
	prefix, suffix string
	least, most    int32 // digits of the fraction
	wholeLeast     int   // digits before it
	grouped        bool
	percent        bool
	wholeMost      int // 0: all
	rounding       string
}

func newNumberFormat(pattern string) (numberFormat, error) {
	f := numberFormat{rounding: "half_even"}
	switch pattern {
	case "":
		f.grouped, f.most, f.wholeLeast = true, 3, 1
		return f, nil
	case "integer":
		f.grouped, f.wholeLeast = true, 1
		return f, nil
	case "percent":
		f.grouped, f.percent, f.suffix, f.wholeLeast = true, true, "%", 1
		return f, nil
	case "currency":
		f.grouped, f.prefix, f.least, f.most, f.wholeLeast = true, "¤", 2, 2, 1
		return f, nil
	}
	pattern, _, _ = strings.Cut(pattern, ";")
	begin := strings.IndexAny(pattern, "#0,.")
	if begin < 0 {
		f.prefix = pattern
		return f, nil
	}
	digits := strings.TrimLeft(pattern[begin:], "#0,.")
	f.prefix, f.suffix = strings.ReplaceAll(pattern[:begin], "'", ""), strings.ReplaceAll(digits, "'", "")
	digits = strings.TrimSuffix(pattern[begin:], digits)
	whole, fraction, _ := strings.Cut(digits, ".")
	if strings.ContainsAny(fraction, ",.") || len(digits) > longestNumber {
		return f, fmt.Errorf("'%s' is not a pattern of numbers", pattern)
	}
	f.grouped = strings.Contains(whole, ",")
	f.wholeLeast = strings.Count(whole, "0")
	f.least, f.most = int32(strings.Count(fraction, "0")), int32(len(fraction))
	f.percent = strings.Contains(f.prefix+f.suffix, "%")
	return f, nil
}

func (f numberFormat) format(d decimal.Decimal) string {
	if f.percent {
		d = d.Shift(2)
	}
	d = f.round(d)
	text := d.Abs().StringFixed(max(f.least, 0))
	if places := -d.Exponent(); places > f.least {
		text = d.Abs().StringFixed(places)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	for int32(len(fraction)) > f.least && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	whole = strings.TrimLeft(whole, "0")
	if missing := f.wholeLeast - len(whole); missing > 0 {
		whole = strings.Repeat("0", missing) + whole
	}
	if f.wholeMost > 0 && len(whole) > f.wholeMost {
		whole = whole[len(whole)-f.wholeMost:]
	}
	if f.grouped {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if d.IsNegative() {
		whole = "-" + f.prefix + whole
	} else {
		whole = f.prefix + whole
	}
	return whole + f.suffix
}

func (f numberFormat) round(d decimal.Decimal) decimal.Decimal {
	switch f.rounding {
	case "half_up":
		return d.Round(f.most)
	case "down":
		return d.Truncate(f.most)
	case "up":
		return d.RoundUp(f.most)
	case "floor":
		return d.RoundFloor(f.most)
	case "ceiling":
		return d.RoundCeil(f.most)
	}
	return d.RoundBank(f.most)
}

// compileNumberFormat compiles a number written by a pattern, or as a number, an
// integer, a percentage or an amount is in English.
func compileNumberFormat(c *call) (evaluator, error) {
	pattern := operand{isKnown: true, literal: ""}
	if len(c.args) == 2 {
		pattern = c.args[1]
	} else if o, given := c.named["format"]; given {
		pattern = o
	}
	format, err := compiled(c, "format", pattern, newNumberFormat)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		value := plain(c.args[0].value(s))
		if !isNumber(value) {
			return nil
		}
		f, err := format(s)
		if err != nil {
			return problem("%v", err)
		}
		c.adjust(&f, s)
		return f.format(newExact(value, s.budget).value)
	}, nil
}

// mostFormatDigits bounds what a template can have written of a number.
const mostFormatDigits = 340

func (c *call) adjust(f *numberFormat, s *scope) {
	digits := func(name string) (int64, bool) {
		n, ok := integer(c.option(name, nil)(s))
		return min(max(n, 0), mostFormatDigits), ok
	}
	if n, ok := digits("maximumFractionDigits"); ok {
		f.most = int32(n)
		f.least = min(f.least, f.most)
	}
	if n, ok := digits("minimumFractionDigits"); ok {
		f.least = int32(n)
		f.most = max(f.least, f.most)
	}
	if n, ok := digits("minimumIntegerDigits"); ok {
		f.wholeLeast = int(n)
	}
	if n, ok := digits("maximumIntegerDigits"); ok {
		f.wholeMost = int(n)
	}
	if o, given := c.named["groupingUsed"]; given {
		f.grouped = truthy(o.value(s))
	}
	if o, given := c.named["roundingMode"]; given {
		f.rounding = strings.ToLower(toText(o.value(s), s.budget))
	}
}
