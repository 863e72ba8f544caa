// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// What a comment has at most: GitHub takes 65,536 characters.
const (
	markdownTargets = 20
	markdownChecks  = 50
	markdownClasses = 10 // of each target
	markdownFields  = 15 // of each comparison
	markdownText    = 80 // characters of a name or value
)

var marks = map[Outcome]string{Passed: "✅", Failed: "❌", Incomplete: "⚠️", NotJudged: "ℹ️"}

// writeMarkdown writes the report as GitHub's Markdown, short enough for a
// comment on a pull request.
func (r *Report) writeMarkdown(w io.Writer) error {
	var m strings.Builder
	v := r.Verdict()
	fmt.Fprintf(&m, "### %s %s\n\n", marks[v.Outcome], words[v.Outcome])
	for _, reason := range cutList(v.Reasons, maxReasons, "reasons") {
		fmt.Fprintf(&m, "- %s\n", code(reason))
	}
	m.WriteByte('\n')
	r.Found.markdown(&m)
	r.markdownChecks(&m)
	r.markdownTargets(&m)
	for _, insight := range cutList(r.insights(), maxReasons, "remarks") {
		fmt.Fprintf(&m, "- %s\n", plain(insight, 3*markdownText))
	}
	m.WriteByte('\n')
	for i := range min(len(r.Comparisons), markdownTargets) {
		r.markdownDifferences(&m, &r.Comparisons[i])
	}
	for i := range min(len(r.Targets), markdownTargets) {
		r.Targets[i].markdownClasses(&m)
	}
	r.markdownRun(&m)
	_, err := io.WriteString(w, m.String())
	return err
}

func (r *Report) markdownChecks(m *strings.Builder) {
	if len(r.Checks) == 0 {
		return
	}
	header(m, "|", "condition", "target", "measured")
	for i, c := range r.Checks {
		if i == markdownChecks {
			fmt.Fprintf(m, "\n%d more conditions are in the whole report.\n", len(r.Checks)-i)
			break
		}
		mark := "✅"
		if !c.OK {
			mark = "❌ failed"
		}
		cells(m, mark, code(c.Condition), plain(c.Target, markdownText), plain(c.Value, markdownText))
	}
	m.WriteByte('\n')
}

func (r *Report) markdownTargets(m *strings.Builder) {
	unlinked := r.anyUnlinked()
	names := []string{"target", "requests", "errors", "answers/s", "p50", "p99", "max"}
	if unlinked {
		names = slices.Insert(names, 3, "unlinked")
	}
	header(m, names...)
	for i := range r.Targets {
		if i == markdownTargets {
			fmt.Fprintf(m, "\n%d more targets are in the whole report.\n", len(r.Targets)-i)
			break
		}
		t := &r.Targets[i]
		values := []string{
			plain(t.Name, markdownText), count(t.Requests), count(t.Errors + t.Unsent), rate(t.AnswerRate),
			t.None(t.Latency.P50MS), t.None(t.Latency.P99MS), t.None(t.Latency.MaxMS),
		}
		if unlinked {
			values = slices.Insert(values, 3, count(t.Unlinked))
		}
		cells(m, values...)
	}
	m.WriteByte('\n')
}

func (r *Report) markdownDifferences(m *strings.Builder, c *Comparison) {
	rows := r.rows(c.Target)
	if len(rows) == 0 {
		return
	}
	header(m, "class", "share", "endpoint", "field", "old → new")
	for i, row := range rows {
		if i == markdownFields {
			fmt.Fprintf(m, "\n%d more fields are in the whole report.\n", len(rows)-i)
			break
		}
		cells(m, string(row.Class), percent(row.Share)+"%", code(row.Endpoint), code(row.Field), code(fit(row.Old, 30))+" → "+code(fit(row.New, 30)))
	}
	m.WriteByte('\n')
}

func (t *Target) markdownClasses(m *strings.Builder) {
	if len(t.By) == 0 {
		return
	}
	fmt.Fprintf(m, "<details><summary>Classes of %s</summary>\n\n", plain(t.Name, markdownText))
	unlinked := t.classesUnlinked()
	names := []string{"class", "requests", "errors", "p50", "p99", "max"}
	if unlinked {
		names = slices.Insert(names, 3, "unlinked")
	}
	header(m, names...)
	for i, c := range t.By {
		if i == markdownClasses {
			fmt.Fprintf(m, "\n%d more classes are in the whole report.\n", len(t.By)-i)
			break
		}
		values := []string{code(c.Name), count(c.Requests), count(c.Errors), c.In(c.Latency.P50MS), c.In(c.Latency.P99MS), c.In(c.Latency.MaxMS)}
		if unlinked {
			values = slices.Insert(values, 3, count(c.Unlinked))
		}
		cells(m, values...)
	}
	m.WriteString("\n</details>\n\n")
}

func (r *Report) markdownRun(m *strings.Builder) {
	fmt.Fprintf(m, "<sub>%s, %s, took %s", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"), plain(r.Pace, markdownText), duration(r.ElapsedMS))
	for _, text := range []string{r.Run.Machine, r.Run.Version} {
		if text != "" {
			m.WriteString("; " + plain(text, markdownText))
		}
	}
	m.WriteString("</sub>\n")
}

// header writes the first two lines of a table; a bar stands for an empty name.
func header(m *strings.Builder, names ...string) {
	for i, name := range names {
		if name == "|" {
			names[i] = " "
		}
	}
	cells(m, names...)
	m.WriteString(strings.Repeat("|---", len(names)) + "|\n")
}

func cells(m *strings.Builder, values ...string) {
	m.WriteString("| " + strings.Join(values, " | ") + " |\n")
}

// special are the characters that mean something in Markdown, or to GitHub: of
// mentions, references and links, too.
const special = "\\`*_{}[]<>()#+!|~@&:$^="

// plain returns a text, cut to so many characters, that Markdown takes as it is.
func plain(text string, n int) string {
	var out strings.Builder
	for _, c := range fit(Escape(text), n) {
		switch {
		case c == '@' || c == '#' || c == ':': // an escaped one still mentions or links
			fmt.Fprintf(&out, "&#%d;", c)
		case strings.ContainsRune(special, c):
			out.WriteByte('\\')
			out.WriteRune(c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// code returns a text as code, cut, also within a table.
func code(text string) string {
	text = strings.ReplaceAll(fit(Escape(text), markdownText), "|", "\\|")
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + space(text) + fence
}

// space sets apart from its fence what begins or ends with one's character.
func space(text string) string {
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		return " " + text + " "
	}
	return text
}

// cutList returns at most n of some texts, and how many more there are.
func cutList(texts []string, n int, what string) []string {
	if len(texts) <= n {
		return texts
	}
	return append(texts[:n:n], fmt.Sprintf("and %d more %s", len(texts)-n, what))
}
