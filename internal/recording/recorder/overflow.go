// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import "fmt"

// Overflow is what happens to a record when memory is full. As text it is
// `block` or `drop`. The zero value is `block`.
type Overflow struct{ drop bool }

// ParseOverflow reads the text form.
func ParseOverflow(text string) (Overflow, error) {
	switch text {
	case "block":
		return Overflow{}, nil
	case "drop":
		return Overflow{drop: true}, nil
	}
	return Overflow{}, fmt.Errorf("'%s' is neither block nor drop", text)
}

// String gives the text that ParseOverflow reads.
func (o Overflow) String() string {
	if o.drop {
		return "drop"
	}
	return "block"
}

// MarshalText writes the choice as text.
func (o Overflow) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the choice from text.
func (o *Overflow) UnmarshalText(text []byte) (err error) {
	*o, err = ParseOverflow(string(text))
	return err
}
