// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// decimal is an exact number with the decimals that it is written with, which
// is how WireMock computes: 2.5 times 2 is 5.0, 7 by 2 is 4.
type decimal struct {
	value *big.Rat
	scale int
}

// newDecimal reads a value; what is no number counts as 0.
func newDecimal(value any) decimal {
	text := toText(value)
	if len(text) > longestNumber {
		text = "0"
	}
	rat, ok := new(big.Rat), false
	if !strings.ContainsAny(text, "/eEpPxX") {
		rat, ok = rat.SetString(strings.TrimSpace(text))
	}
	if !ok {
		if f, isNumber := number(value); isNumber {
			if rat = new(big.Rat).SetFloat64(f); rat != nil {
				return decimal{rat, 0}
			}
		}
		return decimal{new(big.Rat), 0}
	}
	_, fraction, _ := strings.Cut(text, ".")
	return decimal{rat, len(fraction)}
}

// longestNumber bounds what a client can make a computation cost.
const longestNumber = 100

func (d decimal) result() any {
	text := d.value.FloatString(d.scale)
	if d.scale == 0 && d.value.Num().IsInt64() && d.value.IsInt() {
		return d.value.Num().Int64()
	}
	return json.Number(text)
}

// operators compute with exact numbers; the second is not 0 for / and %.
var operators = map[string]func(a, b decimal) decimal{
	"+": func(a, b decimal) decimal { return decimal{new(big.Rat).Add(a.value, b.value), max(a.scale, b.scale)} },
	"-": func(a, b decimal) decimal { return decimal{new(big.Rat).Sub(a.value, b.value), max(a.scale, b.scale)} },
	"*": times,
	"x": times,
	"/": func(a, b decimal) decimal { return decimal{new(big.Rat).Quo(a.value, b.value), a.scale} },
	"%": remainder,
}

func times(a, b decimal) decimal {
	return decimal{new(big.Rat).Mul(a.value, b.value), a.scale + b.scale}
}

func remainder(a, b decimal) decimal {
	quotient := new(big.Rat).Quo(a.value, b.value)
	whole := new(big.Int).Quo(quotient.Num(), quotient.Denom())
	used := new(big.Rat).Mul(new(big.Rat).SetInt(whole), b.value)
	return decimal{new(big.Rat).Sub(a.value, used), max(a.scale, b.scale)}
}

func compileMath(c *call) (evaluator, error) {
	operator, err := c.known("operator", c.args[1])
	if err != nil {
		return nil, err
	}
	compute, ok := operators[operator]
	if !ok {
		return nil, fmt.Errorf("math has no operator '%s'", operator)
	}
	left, right := c.args[0].value, c.args[2].value
	return func(s *scope) any {
		a, b := newDecimal(left(s)), newDecimal(right(s))
		if b.value.Sign() == 0 && (operator == "/" || operator == "%") {
			return problem("division by zero")
		}
		return compute(a, b).result()
	}, nil
}
