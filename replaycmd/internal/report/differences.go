// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

const (
	terminal    = 80 // characters of a line of differences
	longestName = 32 // of those of a system's name in it
	mostRows    = 60 // fields of one target that the text lists
	fieldColumn = 42 // where the field's name begins
	valueWidth  = 34 // characters of each value
)

// intoComparison writes what the report's reader has to know first: which
// responses are right, and whether noise was measured.
func (r *Report) intoComparison(w io.Writer) error {
	if len(r.Comparisons) == 0 {
		return nil
	}
	c := &r.Comparisons[0]
	old := "target " + Escape(c.Old)
	if c.Old == Recorded {
		old = "the recorded responses"
	}
	var noise string
	switch {
	case c.Noise == "":
		noise = "was not measured: every difference counts"
	case c.Noise != Self:
		noise = "by its twin, target " + Escape(c.Noise)
	case c.Old == Recorded:
		noise = "by asking each new target twice"
	default:
		noise = "by asking it twice"
	}
	_, err := fmt.Fprintf(w, "old    %s\nnoise  %s\n\n", old, noise)
	return err
}

// differences writes what was found of each new system.
func (r *Report) differences(w io.Writer) error {
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if err := c.write(w, r.rows(c.Target)); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the fields in which a target differs.
func (r *Report) rows(target string) (rows []tally.Row) {
	for _, d := range r.Differences {
		if d.Target == target {
			rows = append(rows, d.Row)
		}
	}
	return rows
}

func (c *Comparison) write(w io.Writer, rows []tally.Row) error {
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s\n", wrap(fmt.Sprintf("%s beside %s: %s", fit(Escape(c.Target), longestName), fit(Escape(c.Old), longestName), c.summary(rows)), terminal, "\n    "))
	if len(rows) > 0 {
		fmt.Fprintf(&text, "\n  %-11s  %-7s  %-16s  %s\n", "CLASS", "KIND", "SHARE", "FIELD")
	}
	endpoint := ""
	for i, row := range rows {
		if i == mostRows {
			fmt.Fprintf(&text, "(and %s more fields: --report json has all)\n", count(int64(len(rows)-i)))
			break
		}
		if row.Endpoint != endpoint {
			endpoint = row.Endpoint
			fmt.Fprintln(&text, fit(Escape(endpoint), terminal))
		}
		writeRow(&text, &row)
	}
	text.WriteByte('\n')
	c.writeFacts(&text)
	text.WriteByte('\n')
	_, err := io.WriteString(w, text.String())
	return err
}

// summary returns the figures that conditions are about.
func (c *Comparison) summary(rows []tally.Row) string {
	table := tally.Table{Rows: rows}
	return fmt.Sprintf("%s, %s unconfirmed, in %s of %s",
		plural(int64(table.Diffs()), "difference"), count(int64(table.Unconfirmed())), plural(c.Pairs, "pair"), plural(c.Requests, "request"))
}

// writeRow writes one field: a line of what it is, and the values of one pair
// unless it is noise.
func writeRow(text *strings.Builder, row *tally.Row) {
	share := fmt.Sprintf("%s%% (%s–%s)", percent(row.Share), percent(row.ShareLow), percent(row.ShareHigh))
	fmt.Fprintf(text, "  %-11s  %-7s  %s", row.Class, row.Kind, pad(share, 16))
	switch field := Escape(row.Field); {
	case utf8.RuneCountInString(field) <= terminal-fieldColumn:
		fmt.Fprintf(text, "  %s\n", field)
	default:
		fmt.Fprintf(text, "\n    %s\n", fit(field, terminal-4))
	}
	if row.Class == tally.Noise {
		return
	}
	fmt.Fprintf(text, "    %s → %s\n", fit(row.Old, valueWidth), fit(row.New, valueWidth))
	if row.OnlyWhere != "" {
		fmt.Fprintf(text, "    only where %s\n", fit(Escape(row.OnlyWhere), terminal-15))
	}
	if again := row.Again; again != nil && row.Class == tally.Confirmed {
		fmt.Fprintf(text, "    asked %d times: differs %d times, and old from itself %d times\n", again.Rounds, again.New, again.Twin)
	}
	if row.ID != "" {
		fmt.Fprintf(text, "    --id %s\n", fit(Escape(row.ID), terminal-9))
	}
}

// writeFacts writes what was found beside the fields.
func (c *Comparison) writeFacts(text *strings.Builder) {
	line := func(label, value string) {
		fmt.Fprintf(text, "%-14s %s\n", label, wrap(value, terminal-15, "\n"+strings.Repeat(" ", 15)))
	}
	if l := c.Latency; l.Pairs > 0 {
		line("new − old", fmt.Sprintf("median %s (95%%: %s to %s), %s", signed(l.Median), signed(l.Low), signed(l.High), plural(l.Pairs, "pair")))
	}
	if c.Confirming > 0 {
		line("asked again", fmt.Sprintf("%s, counted nowhere else", plural(c.Confirming, "request")))
	}
	if c.NotAsked != "" {
		line("not asked", c.NotAsked)
	}
	if len(c.Partial) > 0 {
		parts := make([]string, 0, len(c.Partial))
		for _, reason := range slices.Sorted(maps.Keys(c.Partial)) {
			parts = append(parts, count(c.Partial[reason])+" "+Escape(reason))
		}
		line("in part or not", strings.Join(parts, ", "))
	}
	if c.Unequal > 0 {
		line("dropped", plural(c.Unequal, "pair")+", by --require-equal")
	}
	if c.Ignored > 0 {
		line("ignored", plural(c.Ignored, "difference"))
	}
	if left := c.LeftOut; left != (tally.LeftOut{}) {
		line("left out", fmt.Sprintf("%s of other endpoints together, %s of other fields, %s put together",
			plural(left.Endpoints, "pair"), plural(left.Differences, "difference"), plural(left.Collapsed, "field")))
	}
}

// fit cuts the middle out of what is longer than n characters.
func fit(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	half := (n - 1) / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-(n-1-half):])
}

// wrap breaks a text at spaces into lines of at most n characters.
func wrap(text string, n int, newline string) string {
	var out strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case length+1+size > n:
			out.WriteString(newline)
			length = 0
		default:
			out.WriteByte(' ')
			length++
		}
		out.WriteString(word)
		length += size
	}
	return out.String()
}

// percent returns a share in percent, with two digits that say something.
func percent(share float64) string {
	switch p := 100 * share; {
	case p > 0 && p < 0.1:
		return strconv.FormatFloat(p, 'g', 2, 64)
	case p < 9.95 || p > 99 && p < 100:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0")
	default:
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
}

func plural(n int64, word string) string {
	if n != 1 {
		word += "s"
	}
	return count(n) + " " + word
}

// signed returns a difference of times.
func signed(d time.Duration) string {
	switch sign := d.Round(10 * time.Microsecond); {
	case sign < 0:
		return "−" + duration(ms(-d))
	case sign > 0:
		return "+" + duration(ms(d))
	}
	return duration(0)
}
