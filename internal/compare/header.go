// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// maxFields bounds the lines of one header that are compared.
const maxFields = 1000

// field is one header line.
type field struct{ name, value []byte }

// appendFields appends the fields of a header, sorted by name; those of one
// name keep their order.
func appendFields(dst []field, header []byte) []field {
	for len(header) > 0 && len(dst) < maxFields {
		line, rest, _ := bytes.Cut(header, []byte{'\n'})
		header = rest
		name, value, ok := bytes.Cut(line, []byte{':'})
		if name = bytes.TrimSpace(name); ok && len(name) > 0 {
			dst = append(dst, field{name, bytes.TrimSpace(value)})
		}
	}
	slices.SortStableFunc(dst, func(a, b field) int { return compareFold(a.name, b.name) })
	return dst
}

// compareFold orders names whatever their case.
func compareFold(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if x, y := lower(a[i]), lower(b[i]); x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// value returns the first value of a name.
func value(fields []field, name string) []byte {
	for _, f := range fields {
		if len(f.name) == len(name) && strings.EqualFold(string(f.name), name) {
			return f.value
		}
	}
	return nil
}

// compareFields compares what stands sorted in c.fields, as `header Name` or
// `trailer Name`.
func (c *Comparer) compareFields(old, new []field, what string, sameBody bool) {
	for len(old) > 0 || len(new) > 0 {
		order := -1
		switch {
		case len(old) == 0:
			order = 1
		case len(new) > 0:
			order = compareFold(old[0].name, new[0].name)
		}
		var a, b []field
		if order <= 0 {
			a, old = cutName(old)
		}
		if order >= 0 {
			b, new = cutName(new)
		}
		c.compareField(a, b, what, sameBody)
	}
}

// cutName returns the leading fields of one name, and the rest.
func cutName(fields []field) (same, rest []field) {
	n := 1
	for n < len(fields) && compareFold(fields[0].name, fields[n].name) == 0 {
		n++
	}
	return fields[:n], fields[n:]
}

func (c *Comparer) compareField(old, new []field, what string, sameBody bool) {
	if equalValues(old, new) {
		return
	}
	var name []byte
	if len(old) > 0 {
		name = old[0].name
	} else {
		name = new[0].name
	}
	c.name = c.name[:0]
	for _, b := range name {
		c.name = append(c.name, lower(b))
	}
	how := c.rules.headers[string(c.name)]
	a, b := c.joined(old, how), c.joined(new, how)
	switch how {
	case whole:
	case ignored:
		c.result.Ignored++
		return
	case presenceOnly:
		if a != nil && b != nil {
			c.result.Ignored++
			return
		}
	case cookieNames:
		if bytes.Equal(a, b) {
			c.result.Ignored++
			return
		}
	case length:
		if !sameBody || a == nil || b == nil { // without it there are chunks
			c.result.Ignored++
			return
		}
	}
	if c.rules.redact[string(c.name)] {
		a, b = redacted(a), redacted(b)
	}
	c.path = append(c.path[:0], what...)
	c.path = appendCanonical(append(c.path, ' '), name[:min(len(name), maxName)])
	c.differ(kindOf(a, b), a, b)
}

func redacted(value []byte) []byte {
	if value == nil {
		return nil
	}
	return []byte("(redacted)")
}

func kindOf(old, new []byte) Kind {
	switch {
	case old == nil:
		return Added
	case new == nil:
		return Missing
	}
	return Changed
}

func equalValues(old, new []field) bool {
	return slices.EqualFunc(old, new, func(a, b field) bool { return bytes.Equal(a.value, b.value) })
}

// joined returns the values of one name as one, nil if there are none; of
// cookies their names.
func (c *Comparer) joined(fields []field, how treatment) []byte {
	switch {
	case len(fields) == 0:
		return nil
	case len(fields) == 1 && how != cookieNames:
		return slices.Clip(fields[0].value)
	}
	from := len(c.arena)
	for i, f := range fields {
		if i > 0 {
			c.arena = append(c.arena, ", "...)
		}
		v := f.value
		if how == cookieNames {
			v, _, _ = bytes.Cut(v, []byte{'='})
		}
		c.arena = append(c.arena, v...)
	}
	return c.arena[from:len(c.arena):len(c.arena)]
}

// appendCanonical appends a field name as Go writes it: Content-Type.
func appendCanonical(dst, name []byte) []byte {
	start := true
	for _, b := range name {
		b = lower(b)
		if start && b >= 'a' && b <= 'z' {
			b -= 'a' - 'A'
		}
		start = b == '-'
		dst = append(dst, b)
	}
	return dst
}
