// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// exact is a number with the decimals that it is written with, which is how
// WireMock computes: 2.5 times 2 is 5.0, 7 by 2 is 4.
type exact struct {
	value decimal.Decimal
	scale int32
}

// longestNumber bounds what a client can make a computation cost, in digits.
const longestNumber = 100

// newExact reads a value; what is not a number counts as 0.
func newExact(value any, b *eval.Budget) exact {
	if n, ok := value.(json.Number); ok { // which WireMock takes as a double
		if f, ok := parseNumber(string(n)); ok && strings.Contains(string(n), ".") {
			value = f
		}
	}
	text := strings.TrimSpace(toText(value, b))
	if len(text) <= longestNumber && !strings.ContainsAny(text, "eE") {
		if d, err := decimal.NewFromString(text); err == nil {
			return exact{d, max(-d.Exponent(), 0)}
		}
	}
	if f, ok := number(value); ok && len(text) <= longestNumber {
		d := decimal.NewFromFloat(f)
		return exact{d, max(-d.Exponent(), 0)}
	}
	return exact{}
}

func (e exact) result() any {
	if e.scale == 0 && e.value.IsInteger() && e.value.BigInt().IsInt64() {
		return e.value.IntPart()
	}
	return json.Number(e.value.StringFixed(e.scale))
}

// operators compute with exact numbers; the second is not 0 for / and %.
var operators = map[string]func(a, b exact) exact{
	"+": func(a, b exact) exact { return exact{a.value.Add(b.value), max(a.scale, b.scale)} },
	"-": func(a, b exact) exact { return exact{a.value.Sub(b.value), max(a.scale, b.scale)} },
	"*": times,
	"x": times,
	"/": func(a, b exact) exact { return exact{a.value.DivRound(b.value, a.scale), a.scale} },
	"%": func(a, b exact) exact { return exact{a.value.Mod(b.value), max(a.scale, b.scale)} },
}

func times(a, b exact) exact { return exact{a.value.Mul(b.value), a.scale + b.scale} }

func compileMath(c *call) (evaluator, error) {
	operator := func(s *scope) string { return c.text(s, 1) }
	if c.args[1].isKnown {
		known, err := c.known("operator", c.args[1])
		if err != nil {
			return nil, err
		}
		if operators[known] == nil {
			return nil, fmt.Errorf("math has no operator '%s'", known)
		}
	}
	left, right := c.args[0].value, c.args[2].value
	return func(s *scope) any {
		name := operator(s)
		compute := operators[name]
		if compute == nil {
			return problem("%s is not a valid mathematical operator", name)
		}
		a, b := newExact(left(s), s.budget), newExact(right(s), s.budget)
		if b.value.IsZero() && (name == "/" || name == "%") {
			return problem("division by zero")
		}
		return compute(a, b).result()
	}, nil
}

var randomHelpers = map[string]helper{
	"randomValue":   {least: 0, most: 0, named: []string{"length", "type", "uppercase"}, compile: compileRandomValue},
	"randomInt":     {least: 0, most: 0, named: []string{"lower", "upper"}, compile: compileRandomInt},
	"randomDecimal": {least: 0, most: 0, named: []string{"lower", "upper"}, compile: compileRandomDecimal},
	"pickRandom":    {least: 1, most: -1, named: []string{"count"}, compile: compilePickRandom},
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
	symbols = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

var alphabets = map[string]string{
	"ALPHANUMERIC":             letters + digits,
	"ALPHABETIC":               letters,
	"NUMERIC":                  digits,
	"HEXADECIMAL":              digits + "abcdef",
	"ALPHANUMERIC_AND_SYMBOLS": letters + digits + symbols,
}

// longestRandom bounds what a single random value costs.
const longestRandom = 1 << 20

func compileRandomValue(c *call) (evaluator, error) {
	kind, given, err := c.knownOption("type")
	if err != nil {
		return nil, err
	}
	if !given {
		kind = "ALPHANUMERIC"
	}
	uppercase := c.option("uppercase", false)
	draw, err := c.randomText(kind)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		if value := draw(s); !truthy(uppercase(s)) {
			return value
		} else {
			return strings.ToUpper(value)
		}
	}, nil
}

func (c *call) randomText(kind string) (func(s *scope) string, error) {
	if kind == "UUID" {
		return func(s *scope) string { return uuid(s.request.Random()) }, nil
	}
	alphabet, ok := alphabets[kind]
	if !ok { // which to WireMock is any character
		alphabet = alphabets["ALPHANUMERIC_AND_SYMBOLS"]
		c.names.ignored = append(c.names.ignored, "randomValue type='"+kind+"'")
	}
	length := c.option("length", int64(36))
	return func(s *scope) string {
		n, ok := number(length(s))
		if !ok || n < 0 || n > longestRandom {
			return problem("randomValue needs a length from 0 to %d", longestRandom)
		}
		if !s.budget.Spend(int(n)) {
			return ""
		}
		source := s.request.Random()
		value := make([]byte, int(n))
		for i := range value {
			value[i] = alphabet[below(source, uint64(len(alphabet)))]
		}
		return string(value)
	}, nil
}

// below draws a number from 0 up to but without n, which is small enough for
// the remainder to favour none of them noticeably.
func below(source rand.Source, n uint64) uint64 { return source.Uint64() % n }

// uuid draws a version 4 UUID.
func uuid(source rand.Source) string {
	var raw [16]byte
	for i, half := 0, uint64(0); i < len(raw); i++ {
		if i%8 == 0 {
			half = source.Uint64()
		}
		raw[i] = byte(half >> (i % 8 * 8))
	}
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	text := hex.EncodeToString(raw[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func compileRandomInt(c *call) (evaluator, error) {
	lower, upper := c.option("lower", int64(math.MinInt32)), c.option("upper", int64(math.MaxInt32))
	return func(s *scope) any {
		from, ok := integer(lower(s))
		to, both := integer(upper(s))
		if !ok || !both || from >= to {
			return problem("randomInt needs a lower bound below the upper")
		}
		return from + int64(below(s.request.Random(), uint64(to-from)))
	}, nil
}

func compileRandomDecimal(c *call) (evaluator, error) {
	lower, upper := c.option("lower", float64(0)), c.option("upper", float64(1))
	return func(s *scope) any {
		from, ok := number(lower(s))
		to, both := number(upper(s))
		if !ok || !both || from >= to || !isFinite(to-from) {
			return problem("randomDecimal needs a lower bound below the upper")
		}
		share := float64(s.request.Random().Uint64()>>11) / (1 << 53)
		return from + (to-from)*share
	}, nil
}

// compilePickRandom compiles one of the arguments or of a list, or, with count=,
// a list of so many.
func compilePickRandom(c *call) (evaluator, error) {
	count := c.option("count", nil)
	return func(s *scope) any {
		var choices []any
		for _, arg := range c.args {
			value := arg.value(s)
			list, isList := elementsOf(value)
			if !isList {
				choices = append(choices, value)
				continue
			}
			if !s.budget.Spend(4 * len(list)) {
				return nil
			}
			choices = append(choices, list...)
		}
		if len(choices) == 0 {
			return nil
		}
		n, ok := integer(count(s))
		if !ok || n <= 0 {
			return choices[below(s.request.Random(), uint64(len(choices)))]
		}
		choices = slices.Clone(choices)
		n = min(n, int64(len(choices)))
		for i := range n {
			j := i + int64(below(s.request.Random(), uint64(int64(len(choices))-i)))
			choices[i], choices[j] = choices[j], choices[i]
		}
		return choices[:n]
	}, nil
}
