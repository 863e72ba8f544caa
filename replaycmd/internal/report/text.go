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
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// writeText writes the report in aligned columns, one for each target.
func (r *Report) writeText(w io.Writer) error {
	w = Escaping(w)
	if err := r.intoComparison(w); err != nil {
		return err
	}
	if words := r.shards(); words != "" {
		if _, err := fmt.Fprintf(w, "%s\n\n", words); err != nil {
			return err
		}
	}
	if r.Request != "" {
		if _, err := fmt.Fprintf(w, "%s\n\n", r.Request); err != nil {
			return err
		}
	}
	writeFound(w, r.Found)
	t := r.table()
	if err := t.write(w); err != nil {
		return err
	}
	for i := range r.Targets {
		if err := r.Targets[i].classTable(w); err != nil {
			return err
		}
	}
	if err := r.conversations(w); err != nil {
		return err
	}
	if err := r.differences(w); err != nil {
		return err
	}
	if err := r.writeBaseline(w); err != nil {
		return err
	}
	for _, c := range r.Checks {
		verdict := "ok    "
		if !c.OK {
			verdict = "FAILED"
		}
		if _, err := fmt.Fprintf(w, "%s %s: %s is %s\n", verdict, c.Target, c.Condition, c.Value); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) table() *table {
	t := new(table)
	for _, target := range r.Targets {
		t.head = append(t.head, Escape(target.Name))
	}
	r.row(t, "requests", func(t *Target) string { return count(t.Requests) })
	r.rowIfAny(t, "  not started in time", func(t *Target) int64 { return t.Unsent })
	r.rowIfAny(t, "  unlinked", func(t *Target) int64 { return t.Unlinked })
	r.row(t, "rate asked", func(t *Target) string {
		if t.RateAsked > 0 {
			return rate(t.RateAsked)
		}
		return r.Pace
	})
	r.row(t, "rate reached", func(t *Target) string { return rate(t.Rate) })
	if slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Answers < t.Requests }) {
		r.row(t, "  answered", func(t *Target) string { return rate(t.AnswerRate) })
	}
	r.row(t, "time", func(t *Target) string { return duration(t.ElapsedMS) })
	r.row(t, "connections opened", func(t *Target) string { return count(t.ConnectionsOpened) })
	r.row(t, "answers", func(t *Target) string { return count(t.Answers) })
	for hundred := 1; hundred <= 5; hundred++ {
		r.rowIfAny(t, fmt.Sprintf("  %dxx", hundred), func(t *Target) int64 { return t.StatusClass(hundred) })
	}
	r.row(t, "errors", func(t *Target) string { return count(t.Errors) })
	for _, kind := range r.kinds() {
		r.rowIfAny(t, "  "+kind, func(t *Target) int64 { return t.ErrorsByKind[kind] })
	}
	r.rowIfAny(t, "interrupted", func(t *Target) int64 { return t.Interrupted })
	r.rowIfAny(t, "bodies cut in recording", func(t *Target) int64 { return t.Truncated })
	if slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Clock.words() != "" }) {
		r.row(t, "clock, by its Date", func(t *Target) string { return t.Clock.words() })
	}
	r.row(t, "sent", func(t *Target) string { return humanize.IBytes(uint64(t.BytesSent)) })
	r.row(t, "received", func(t *Target) string { return humanize.IBytes(uint64(t.BytesReceived)) })
	if !r.Timed {
		r.latency(t, "latency", func(t *Target) *Latency { return &t.Latency })
		return t
	}
	r.latency(t, "latency from when due", func(t *Target) *Latency { return &t.Latency })
	r.latency(t, "service time", func(t *Target) *Latency { return &t.Service })
	r.row(t, "late by over 10 ms", func(t *Target) string {
		return fmt.Sprintf("%s (%s)", count(t.Late), share(t.Late, t.Requests))
	})
	if slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Late > 0 }) {
		r.row(t, "  all connections busy", func(t *Target) string { return count(t.LateBusy) })
		r.rowIfAny(t, "  waited for an answer", func(t *Target) int64 { return t.LateWaiting })
		r.row(t, "  this machine", func(t *Target) string { return count(t.Late - t.LateBusy - t.LateWaiting) })
	}
	r.row(t, "lateness p99", func(t *Target) string { return duration(t.Lateness.P99MS) })
	r.row(t, "lateness max", func(t *Target) string { return duration(t.Lateness.MaxMS) })
	return t
}

func (r *Report) row(t *table, label string, value func(*Target) string) {
	values := make([]string, len(r.Targets))
	for i := range r.Targets {
		values[i] = value(&r.Targets[i])
	}
	t.add(label, values...)
}

// rowIfAny adds a row of counts if one of them isn't 0.
func (r *Report) rowIfAny(t *table, label string, value func(*Target) int64) {
	for i := range r.Targets {
		if value(&r.Targets[i]) != 0 {
			r.row(t, label, func(t *Target) string { return count(value(t)) })
			return
		}
	}
}

func (r *Report) latency(t *table, label string, of func(*Target) *Latency) {
	if !slices.ContainsFunc(r.Targets, func(t Target) bool { return of(&t).Count > 0 }) {
		r.row(t, label, func(*Target) string { return "none" })
		return
	}
	t.add(label)
	for _, figure := range []struct {
		label string
		value func(*Latency) float64
	}{
		{"mean", func(l *Latency) float64 { return l.MeanMS }},
		{"p50", func(l *Latency) float64 { return l.P50MS }},
		{"p90", func(l *Latency) float64 { return l.P90MS }},
		{"p95", func(l *Latency) float64 { return l.P95MS }},
		{"p99", func(l *Latency) float64 { return l.P99MS }},
		{"p99.9", func(l *Latency) float64 { return l.P999MS }},
		{"max", func(l *Latency) float64 { return l.MaxMS }},
	} {
		r.row(t, "  "+figure.label, func(t *Target) string { return of(t).text(figure.value(of(t))) })
	}
}

// kinds returns the kinds of errors of all targets.
func (r *Report) kinds() []string {
	all := make(map[string]bool)
	for _, t := range r.Targets {
		for kind := range t.ErrorsByKind {
			all[kind] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// classTable writes what became of each class of a target's requests.
func (t *Target) classTable(w io.Writer) error {
	if len(t.By) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", Escape(t.Name)); err != nil {
		return err
	}
	classes := table{head: []string{"requests", "errors"}}
	statuses := t.statusClasses()
	unlinked := slices.ContainsFunc(t.By, func(c Class) bool { return c.Unlinked > 0 })
	if unlinked {
		classes.head = append(classes.head, "unlinked")
	}
	classes.head = append(append(classes.head, statuses...), "p50", "p99", "max")
	for _, c := range t.By {
		values := []string{count(c.Requests), count(c.Errors)}
		if unlinked {
			values = append(values, count(c.Unlinked))
		}
		for _, class := range statuses {
			values = append(values, count(c.StatusClasses[class]))
		}
		for _, ms := range []float64{c.Latency.P50MS, c.Latency.P99MS, c.Latency.MaxMS} {
			values = append(values, c.Latency.text(ms))
		}
		classes.add(shorten(Escape(c.Name)), values...)
	}
	return classes.write(w)
}

// statusClasses returns the classes of status that any class of requests has.
func (t *Target) statusClasses() []string {
	all := make(map[string]bool)
	for _, c := range t.By {
		for class := range c.StatusClasses {
			all[class] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// text returns one of the figures, which there are none of without an answer.
func (l *Latency) text(ms float64) string {
	if l.Count == 0 {
		return "none"
	}
	return duration(ms)
}

func count(n int64) string { return humanize.Comma(n) }

func rate(perSecond float64) string {
	if perSecond >= 10000 {
		return humanize.Comma(int64(perSecond+0.5)) + "/s"
	}
	return strconv.FormatFloat(perSecond, 'f', 1, 64) + "/s"
}

func duration(ms float64) string {
	if ms >= 1000 {
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	}
	return strconv.FormatFloat(ms, 'f', 2, 64) + " ms"
}

func share(part, whole int64) string {
	if whole == 0 {
		return "0%"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

// Escape returns a text that can't steer a terminal: what is not printable, line
// breaks and tabs included, is written as \x1b or \u009b, and \xff if it is not
// UTF-8.
func Escape(text string) string { return escape(text, "") }

func escape(text, allowed string) string {
	safe := func(c rune, size int) bool {
		return unicode.IsPrint(c) && (c != utf8.RuneError || size > 1) || c < utf8.RuneSelf && strings.ContainsRune(allowed, c)
	}
	var out strings.Builder
	done := 0
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		if !safe(c, size) {
			out.WriteString(text[done:at])
			switch high, low := utf16.EncodeRune(c); {
			case c == utf8.RuneError, c < ' ': // which JSON has escaped itself
				fmt.Fprintf(&out, `\x%02x`, text[at])
			case high != utf8.RuneError:
				fmt.Fprintf(&out, `\u%04x\u%04x`, high, low) // as JSON has it
			default:
				fmt.Fprintf(&out, `\u%04x`, c)
			}
			done = at + size
		}
		at += size
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// Escaping returns a writer of text that can't steer a terminal. Each Write is a
// whole text; of what is not printable only line breaks and tabs pass. JSON that
// goes through it stays the same JSON.
func Escaping(w io.Writer) io.Writer { return escaping{w} }

type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(string(p), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}
