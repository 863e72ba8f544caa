// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strings"
	"unicode/utf8"
)

// width is how many characters a line of text has at most.
const width = 100

// maxName is how many characters of a target's name a column shows.
const maxName = 24

// table is lines of a label and a value for each column.
type table struct {
	head []string
	rows []row
}

type row struct {
	label  string
	values []string // none: a heading
}

func (t *table) add(label string, values ...string) { t.rows = append(t.rows, row{label, values}) }

// write writes the table, in several parts if it is too wide for one.
func (t *table) write(w io.Writer) error {
	label := 0
	for _, r := range t.rows {
		label = max(label, utf8.RuneCountInString(r.label))
	}
	var text strings.Builder
	for first := 0; first < len(t.head); {
		last, total := first, label
		var widths []int
		for last < len(t.head) {
			column := t.width(last) + 3
			if total+column > width && last > first {
				break
			}
			widths, total, last = append(widths, column), total+column, last+1
		}
		if first > 0 {
			text.WriteByte('\n')
		}
		t.part(&text, label, first, widths)
		first = last
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// part writes the columns from the first on that have a width.
func (t *table) part(text *strings.Builder, label, first int, widths []int) {
	for _, r := range append([]row{{values: t.head}}, t.rows...) {
		cells := []string{pad(r.label, label)}
		for i, column := range widths {
			if len(r.values) > 0 {
				cells = append(cells, padLeft(shorten(r.values[first+i]), column))
			}
		}
		text.WriteString(strings.TrimRight(strings.Join(cells, ""), " "))
		text.WriteByte('\n')
	}
}

func (t *table) width(column int) int {
	n := utf8.RuneCountInString(shorten(t.head[column]))
	for _, r := range t.rows {
		if len(r.values) > 0 {
			n = max(n, utf8.RuneCountInString(shorten(r.values[column])))
		}
	}
	return n
}

func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text)))
}

func padLeft(text string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(text))) + text
}

// shorten cuts the middle out of what is too long for a column.
func shorten(text string) string {
	runes := []rune(text)
	if len(runes) <= maxName {
		return text
	}
	half := (maxName - 1) / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-(maxName-1-half):])
}
