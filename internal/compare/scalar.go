// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// appendUnescaped appends the content of a JSON string that has backslashes.
// A lone surrogate becomes U+FFFD.
func appendUnescaped(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			dst = append(dst, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, size := unescapeRune(s[i-1:])
			dst = utf8.AppendRune(dst, r)
			i += size - 2
		default:
			dst = append(dst, s[i])
		}
	}
	return dst
}

// unescapeRune reads \uXXXX, or two of them that are a pair.
func unescapeRune(s []byte) (r rune, size int) {
	r = hex4(s[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(s[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s []byte) (r rune) {
	for _, c := range s[:min(4, len(s))] {
		d, _ := hexDigit(c)
		r = r<<4 | d
	}
	return r
}

// equalText reports whether two JSON strings have the same content.
func (c *Comparer) equalText(a []byte, aEscaped bool, b []byte, bEscaped bool) bool {
	if !aEscaped && !bEscaped {
		return bytes.Equal(a, b)
	}
	c.left, c.right = c.left[:0], c.right[:0]
	c.left, c.right = appendUnescaped(c.left, a), appendUnescaped(c.right, b)
	return bytes.Equal(c.left, c.right)
}

// decimal is a number as its digits without zeros at either end, and the power
// of ten behind the last one. Zero has no digits.
type decimal struct {
	negative bool
	digits   []byte
	power    int
}

// maxPower is where powers of ten stop being told apart.
const maxPower = 1 << 40

// decimalOf reads a JSON number; its digits are appended to dst.
func decimalOf(dst, s []byte) decimal {
	d := decimal{digits: dst}
	from := len(dst)
	if s[0] == '-' {
		d.negative = true
		s = s[1:]
	}
	fraction := false
	i := 0
	for ; i < len(s) && s[i]|0x20 != 'e'; i++ {
		if s[i] == '.' {
			fraction = true
			continue
		}
		if fraction {
			d.power--
		}
		if s[i] != '0' || len(d.digits) > from {
			d.digits = append(d.digits, s[i])
		}
	}
	if i < len(s) {
		d.power += exponent(s[i+1:])
	}
	for len(d.digits) > from && d.digits[len(d.digits)-1] == '0' {
		d.digits = d.digits[:len(d.digits)-1]
		d.power++
	}
	if d.digits = d.digits[from:]; len(d.digits) == 0 {
		d.negative, d.power = false, 0
	}
	return d
}

func exponent(s []byte) int {
	negative, n := false, 0
	for _, c := range s {
		switch {
		case c == '-':
			negative = true
		case c != '+' && n < maxPower:
			n = n*10 + int(c-'0')
		}
	}
	if negative {
		return -n
	}
	return n
}

// equalNumber reports whether two JSON numbers have the same decimal value.
func (c *Comparer) equalNumber(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := decimalOf(c.left[:0], a), decimalOf(c.right[:0], b)
	c.left, c.right = x.digits, y.digits
	return x.negative == y.negative && x.power == y.power && bytes.Equal(x.digits, y.digits)
}
