// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

// Lengths from which on a value is taken for one that nobody else has.
const (
	highHex    = 16 // hexadecimal digits
	highBase64 = 20 // digits of base64 or base32
)

// IsHighEntropy reports whether a value is, or has a part that is, a UUID, 16 or
// more hexadecimal digits, or 20 or more digits of base64 as they come by
// chance; so a JSON Web Token or a signed value.
func IsHighEntropy(value []byte) bool {
	for from := 0; from <= len(value)-highHex; {
		to := from
		for to < len(value) && classOf(value[to]) != other {
			to++
		}
		if isRandom(value[from:to]) {
			return true
		}
		from = to + 1
	}
	return false
}

// class is what kind of character one is.
type class byte

const (
	other class = iota
	aDigit
	lower
	upper
	mark // of base64
)

func classOf(c byte) class {
	switch {
	case c >= '0' && c <= '9':
		return aDigit
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c == '-', c == '_', c == '+', c == '/', c == '=':
		return mark
	}
	return other
}

// isRandom reports whether text, which has nothing but digits of base64, looks
// drawn: hexadecimal, or with letters and digits that change often.
func isRandom(text []byte) bool {
	if len(text) < highHex {
		return false
	}
	isHexadecimal, digits, letters, changes := true, 0, 0, 0
	last := other
	for _, c := range text {
		if !isHex(c) && c != '-' {
			isHexadecimal = false
		}
		of := classOf(c)
		switch of {
		case aDigit:
			digits++
		case lower, upper:
			letters++
		case mark, other:
			continue
		}
		if last != other && of != last {
			changes++
		}
		last = of
	}
	if isHexadecimal {
		return digits+letters >= highHex && digits > 0 && changes > 0
	}
	return len(text) >= highBase64 && digits > 0 && letters > 0 && changes >= len(text)/5
}
