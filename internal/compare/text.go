// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// shortest is how many characters of a value are shown.
const shortest = 60

// Short returns a value as it may be shown on one line: cut to 60 characters,
// with everything escaped that a terminal would not print; "–" for one that is
// missing.
func Short(value []byte) string {
	if value == nil {
		return "–"
	}
	var b strings.Builder
	for n := 0; len(value) > 0; n++ {
		if n == shortest {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRune(value)
		switch {
		case r == utf8.RuneError && size == 1, !unicode.IsPrint(r):
			quoted := strconv.QuoteToASCII(string(value[:size]))
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.Write(value[:size])
		}
		value = value[size:]
	}
	return b.String()
}

// digest returns length and hash of a body, as it is shown.
func (c *Comparer) digest(body []byte) []byte { return c.describe("", body) }

func (c *Comparer) describe(what content, body []byte) []byte {
	from := len(c.arena)
	if what != "" {
		c.arena = append(append(c.arena, what...), ", "...)
	}
	c.arena = strconv.AppendInt(c.arena, int64(len(body)), 10)
	c.arena = append(c.arena, " bytes, hash "...)
	c.arena = strconv.AppendUint(c.arena, xxhash.Sum64(body), 16)
	return c.arena[from:len(c.arena):len(c.arena)]
}

func (c *Comparer) number(n int) []byte {
	from := len(c.arena)
	c.arena = strconv.AppendInt(c.arena, int64(n), 10)
	return c.arena[from:len(c.arena):len(c.arena)]
}

// maxLines bounds the lines of a text that are compared one by one.
const maxLines = 20_000

// compareLines compares texts line by line, and reports whether they had few
// enough lines for that. A line has its number in the old text.
func (c *Comparer) compareLines(old, new []byte) bool {
	if bytes.Count(old, []byte{'\n'}) > maxLines || bytes.Count(new, []byte{'\n'}) > maxLines {
		return false
	}
	oldLines, newLines := lines(old), lines(new)
	g := &c.aligner
	g.a, g.b = g.a[:0], g.b[:0]
	for _, l := range oldLines {
		g.a = append(g.a, xxhash.Sum64(l))
	}
	for _, l := range newLines {
		g.b = append(g.b, xxhash.Sum64(l))
	}
	g.align(false)
	for _, p := range g.pairs {
		var a, b []byte
		line := int(p.a)
		switch {
		case p.a < 0:
			line, b = int(p.near), newLines[p.b]
		case p.b < 0:
			a = oldLines[p.a]
		case g.a[p.a] == g.b[p.b]:
			continue
		default:
			a, b = oldLines[p.a], newLines[p.b]
		}
		c.path = strconv.AppendInt(append(c.path[:0], "line "...), int64(line)+1, 10)
		c.differ(kindOf(a, b), a, b)
	}
	return true
}

// lines returns the lines of a text without their ends; none of them is nil.
func lines(text []byte) [][]byte {
	var all [][]byte
	for line := range bytes.Lines(text) {
		all = append(all, bytes.TrimRight(line, "\r\n"))
	}
	return all
}
