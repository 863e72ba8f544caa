// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// What a page shows at most; what it leaves out is counted there.
const (
	maxTargets = 12  // targets with a section of their own
	maxFields  = 200 // fields that differ, of each target
	maxChecks  = 200
	maxReasons = 20
	maxText    = 120 // characters of a name or value
	maxCommand = 2000
)

//go:embed page.css
var pageStyle string

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"cut":      func(text string) string { return cut(text, maxText) },
	"command":  func(text string) string { return cut(text, maxCommand) },
	"words":    func(text string) []string { return strings.Split(cut(text, maxCommand), " ") },
	"count":    count,
	"rate":     rate,
	"duration": duration,
	"percent":  percent,
	"share":    share,
	"signed":   signed,
	"word":     func(o Outcome) string { return words[o] },
	"sentence": sentence,
}).Parse(pageText))

// words are how a page calls an outcome.
var words = map[Outcome]string{Passed: "Passed", Failed: "Failed", Incomplete: "Incomplete", NotJudged: "Done, not judged"}

// page is what the template is filled with.
type page struct {
	*Report
	Policy      string
	Style       template.CSS
	Verdict     Verdict
	Insights    []string
	Percentiles []*figure
	Sections    []section
	More        int // targets without a section
	MoreChecks  int
	Unlinked    bool // something was
	Compared    []comparedSection
}

// comparedSection is what a page has of one comparison.
type comparedSection struct {
	*Comparison
	Summary string
	Rows    []tally.Row
	More    int // rows that are left out
}

// writeHTML writes the report as one page that loads nothing and runs nothing.
func (r *Report) writeHTML(w io.Writer) error {
	hash := sha256.Sum256([]byte(pageStyle))
	p := page{
		Report: r, Verdict: r.Verdict(), Insights: r.insights(), Unlinked: r.anyUnlinked(), More: max(0, len(r.Targets)-maxTargets), MoreChecks: max(0, len(r.Checks)-maxChecks),
		Style: template.CSS(pageStyle), //nolint:gosec // it is ours
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
			"'; base-uri 'none'; form-action 'none'",
	}
	if reasons := p.Verdict.Reasons; len(reasons) > maxReasons {
		p.Verdict.Reasons = append(reasons[:maxReasons:maxReasons], fmt.Sprintf("and %d more reasons", len(reasons)-maxReasons))
	}
	p.Percentiles = r.percentileFigures()
	charts := newTimeCharts(r.Targets[:min(len(r.Targets), maxTargets)])
	for i := range min(len(r.Targets), maxTargets) {
		p.Sections = append(p.Sections, r.newSection(&r.Targets[i], i, charts))
	}
	for i := range min(len(r.Comparisons), maxTargets) {
		c := &r.Comparisons[i]
		rows := r.rows(c.Target)
		p.Compared = append(p.Compared, comparedSection{c, c.summary(rows), rows[:min(len(rows), maxFields)], max(0, len(rows)-maxFields)})
	}
	return pageTemplate.Execute(w, &p)
}

// Parts returns in words of which shards the report is, empty if there are none.
func (p *page) Parts() string { return p.shards() }

// Judged returns the checks that a page has.
func (p *page) Judged() []Check { return p.Checks[:min(len(p.Checks), maxChecks)] }

// Listed returns the targets that a page has.
func (p *page) Listed() []Target { return p.Targets[:min(len(p.Targets), maxTargets)] }

// cut returns a text that is safe to look at and has at most n characters, with
// the number of those that it lacks.
func cut(text string, n int) string {
	text = Escape(text)
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return fmt.Sprintf("%s… (and %s more)", string(runes[:n]), plural(int64(len(runes)-n), "character"))
}

// sentence returns a reason as a sentence of a page.
func sentence(text string) string { return cut(text, 4*maxText) }
