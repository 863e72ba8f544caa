// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
)

// Condition is what has to hold of every target for a run to pass.
type Condition struct {
	text   string
	figure string
	holds  func(a, b float64) bool
	limit  float64
	share  bool // the limit is a percentage of the requests
	ofOld  bool // the limit is so many times the old system's figure
	ofBase bool // the limit is so many times the earlier run's figure
}

// Of the longer operators first, so that <= isn't read as < and =50.
var operators = []struct {
	text  string
	holds func(a, b float64) bool
}{
	{"<=", func(a, b float64) bool { return a <= b }},
	{">=", func(a, b float64) bool { return a >= b }},
	{"<", func(a, b float64) bool { return a < b }},
	{">", func(a, b float64) bool { return a > b }},
	{"=", func(a, b float64) bool { return a == b }},
}

// ConditionHelp lists the figures that conditions are about.
const ConditionHelp = `p50 … p99.9, max, any percentile   a duration: p99<250ms
errors, late, 1xx … 5xx            a number or a share: errors<0.1%
unlinked, with --links             the same: unlinked=0
rate                               answers per second: rate>=450/s
percentiles, with --compare        or times old's service time: p99<1.1x old
percentiles, with --baseline       or times its p99: p99<1.1x baseline
diffs, unconfirmed, pairs          a number, with --compare: diffs=0`

// ParseCondition reads a condition: a figure, <, <=, >, >= or =, and a limit. See
// ConditionHelp for the figures.
func ParseCondition(text string) (Condition, error) {
	compact := strings.ReplaceAll(text, " ", "")
	at := strings.IndexAny(compact, "<>=")
	if at < 0 {
		return Condition{}, fmt.Errorf("'%s' is not a condition: expected one like p99<250ms", text)
	}
	c := Condition{text: compact, figure: compact[:at]}
	rest := compact[at:]
	for _, o := range operators {
		if limit, found := strings.CutPrefix(rest, o.text); found {
			c.holds = o.holds
			if err := c.parseLimit(limit); err != nil {
				return Condition{}, fmt.Errorf("'%s' is not a condition: %v", text, err)
			}
			return c, nil
		}
	}
	return Condition{}, fmt.Errorf("'%s' is not a condition: expected one like p99<250ms", text)
}

func (c *Condition) parseLimit(text string) error {
	_, isPercentile := percentile(c.figure)
	switch {
	case isPercentile && strings.HasSuffix(text, "xold"):
		c.ofOld = true
		return c.parseFactor(strings.TrimSuffix(text, "xold"), "x old")
	case isPercentile && strings.HasSuffix(text, "xbaseline"):
		c.ofBase = true
		return c.parseFactor(strings.TrimSuffix(text, "xbaseline"), "x baseline")
	case isPercentile, c.figure == "max":
		d, err := units.ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("'%s' is not a duration like 250ms", text)
		}
		c.limit = float64(d)
	case c.figure == "rate":
		r, err := schedule.ParseRate(text)
		if err != nil {
			return err
		}
		c.limit = float64(r)
	case c.figure == "errors", c.figure == "late", c.figure == "unlinked", isStatusClass(c.figure):
		number, share := strings.CutSuffix(text, "%")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0) || math.IsInf(n, 0) {
			return fmt.Errorf("'%s' is not a number or a percentage", text)
		}
		c.limit, c.share = n, share
	case isOfFields(c.figure):
		n, err := strconv.ParseUint(text, 10, 53)
		if err != nil {
			return fmt.Errorf("'%s' is not a number", text)
		}
		c.limit = float64(n)
	default:
		return fmt.Errorf("there is no figure '%s': expected a percentile like p99, max, errors, late, unlinked, rate, 1xx to 5xx, diffs, unconfirmed or pairs", c.figure)
	}
	return nil
}

// parseFactor reads the 1.1 of `p99<1.1x old`, and what it is times of.
func (c *Condition) parseFactor(text, of string) error {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(f > 0) || math.IsInf(f, 0):
		return fmt.Errorf("'%s%s' is not a factor above 0 like 1.1%[2]s", text, of)
	case !c.holds(0, 1): // the bounds tell at least how slow new is, not at most
		return fmt.Errorf("%s is an upper limit: expected %s<%s%[1]s", of, c.figure, text)
	}
	c.limit = f
	c.text = strings.TrimSuffix(c.text, strings.ReplaceAll(of, " ", "")) + of
	return nil
}

// isOfFields reports whether a figure counts fields or pairs of a comparison.
func isOfFields(figure string) bool {
	return figure == "diffs" || figure == "unconfirmed" || figure == "pairs"
}

// OfComparison reports whether the condition is about responses that were
// compared.
func (c Condition) OfComparison() bool { return c.ofOld || isOfFields(c.figure) }

// OfBaseline reports whether the condition is about an earlier run.
func (c Condition) OfBaseline() bool { return c.ofBase }

// String returns the condition as text.
func (c Condition) String() string { return c.text }

// percentile returns the percentage of a figure like p99.9.
func percentile(figure string) (float64, bool) {
	text, found := strings.CutPrefix(figure, "p")
	p, err := strconv.ParseFloat(text, 64)
	return p, found && err == nil && p > 0 && p <= 100
}

func isStatusClass(figure string) bool {
	return len(figure) == 3 && figure[0] >= '1' && figure[0] <= '5' && figure[1:] == "xx"
}

// OfUnlinked reports whether the condition is about requests that were not sent,
// since what they need was in no answer.
func (c Condition) OfUnlinked() bool { return c.figure == "unlinked" }

// OfErrors reports whether the condition is about errors.
func (c Condition) OfErrors() bool { return c.figure == "errors" }

// Judge returns the check of the condition on a target. Latencies are those
// from when requests were due. What is unknown, a latency without an answer or
// a share of no requests, does not hold.
func (c Condition) Judge(t *Target) Check {
	check := Check{Condition: c.text, Target: t.Name}
	if p, ok := percentile(c.figure); ok || c.figure == "max" {
		if t.Latency.Count == 0 {
			check.Value = "unknown, as no answer came"
			return check
		}
		d := t.Latency.Max()
		if ok {
			d = t.Latency.At(p)
		}
		check.Value, check.OK = d.Round(time.Microsecond).String(), c.holds(float64(d), c.limit)
		return check
	}
	if c.figure == "rate" {
		check.Value, check.OK = strconv.FormatFloat(t.AnswerRate, 'f', 1, 64)+"/s", c.holds(t.AnswerRate, c.limit)
		return check
	}
	value := float64(c.count(t))
	check.Value = strconv.FormatFloat(value, 'f', -1, 64)
	if c.share {
		requests := t.Requests + t.Unsent
		if c.OfUnlinked() {
			requests += t.Unlinked
		}
		if requests == 0 {
			check.Value = "unknown, as nothing was sent"
			return check
		}
		value = 100 * value / float64(requests)
		check.Value = strconv.FormatFloat(value, 'f', 2, 64) + "%"
	}
	check.OK = c.holds(value, c.limit)
	return check
}

// Judge adds to the report whether the conditions hold of each target.
// Those about a comparison are about the new targets only.
func (r *Report) Judge(conditions []Condition) {
	for _, condition := range conditions {
		for i := range r.Targets {
			t := &r.Targets[i]
			if condition.ofBase {
				r.Checks = append(r.Checks, condition.judgeBaseline(r, t))
			} else if condition.OfUnlinked() && r.NoSession {
				r.Checks = append(r.Checks, Check{Condition: condition.text, Target: t.Name, Value: "unknown, as no record has a session"})
			} else if !condition.OfComparison() {
				r.Checks = append(r.Checks, condition.Judge(t))
			} else if c := r.comparison(t.Name); c != nil {
				r.Checks = append(r.Checks, condition.judgeComparison(r, c))
			}
		}
	}
}

// judgeComparison returns whether the condition holds of a new target. What is
// unknown does not hold: fields where nothing was compared, a percentile where
// pairs are few.
func (c Condition) judgeComparison(r *Report, compared *Comparison) Check {
	check := Check{Condition: c.text, Target: compared.Target}
	if c.ofOld {
		p, _ := percentile(c.figure)
		fresh, old, ok := compared.ratio(p)
		if !ok || old <= 0 {
			check.Value = "unknown, as " + plural(compared.Latency.Pairs, "pair") + " are too few"
			return check
		}
		ratio := float64(fresh) / float64(old)
		check.Value = fmt.Sprintf("at least %sx old", strconv.FormatFloat(ratio, 'f', 2, 64))
		check.OK = c.holds(ratio, c.limit)
		return check
	}
	if c.figure != "pairs" && compared.Pairs == 0 {
		check.Value = "unknown, as nothing was compared"
		return check
	}
	var n int64
	switch c.figure {
	case "diffs":
		n = int64(r.differing(compared.Target, tally.Class.Counts))
	case "unconfirmed":
		n = int64(r.differing(compared.Target, isClass(tally.Unconfirmed)))
	case "pairs":
		n = compared.Pairs
	}
	check.Value, check.OK = strconv.FormatInt(n, 10), c.holds(float64(n), c.limit)
	return check
}

// count returns how many requests the figure is about. Those that were not
// started are late and errors as well.
func (c Condition) count(t *Target) int64 {
	switch c.figure {
	case "errors":
		return t.Errors + t.Unsent
	case "late":
		return t.Late + t.Unsent
	case "unlinked":
		return t.Unlinked
	}
	return t.StatusClass(int(c.figure[0] - '0'))
}
