// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
)

// FoundRate is what a search for the highest rate has found. Rates are per second.
type FoundRate struct {
	Conditions []string `json:"conditions"` // that had to hold, of every target
	Rate       float64  `json:"rate"`       // the highest at which they did, twice; 0: at none
	Below      float64  `json:"below"`      // the lowest above it at which they did not; 0: there was none
	Limit      string   `json:"limit"`      // what was at its end: "target", "machine" (the one that sends), "tries" or "interrupted"
	Tried      []Tried  `json:"tried"`      // in the order in which they were
}

// Tried is one rate of a search.
type Tried struct {
	Rate       float64 `json:"rate"`
	Held       bool    `json:"held"`
	Seconds    float64 `json:"seconds"`     // that it was sent for
	AnswerRate float64 `json:"answer_rate"` // the lowest of all targets
	P50MS      float64 `json:"p50_ms"`      // of latency, the highest of all targets
	P99MS      float64 `json:"p99_ms"`
	Errors     int64   `json:"errors"` // of all targets, with what was not started in time
	Late       int64   `json:"late"`   // because of this machine
	Why        string  `json:"why"`    // it did not hold: the first condition and its value
}

// Try judges a run at a rate by conditions, and returns what became of it. All of
// them have to hold. Unless one is about errors none may occur, unless one is about
// them all requests have what they need of others, and all have to start in time.
func (r *Report) Try(rate float64, conditions []Condition) (Tried, schedule.Verdict) {
	tried := Tried{Rate: rate, Seconds: r.ElapsedMS / 1e3}
	r.Judge(conditions)
	for _, check := range r.Checks {
		if !check.OK {
			tried.Why = fmt.Sprintf("%s is %s", check.Condition, check.Value)
			break
		}
	}
	ofErrors, ofUnlinked := slices.ContainsFunc(conditions, Condition.OfErrors), slices.ContainsFunc(conditions, Condition.OfUnlinked)
	slow, requests := false, int64(0)
	for i := range r.Targets {
		t := &r.Targets[i]
		if i == 0 || t.AnswerRate < tried.AnswerRate {
			tried.AnswerRate = t.AnswerRate
		}
		tried.P50MS, tried.P99MS = max(tried.P50MS, t.Latency.P50MS), max(tried.P99MS, t.Latency.P99MS)
		tried.Errors += t.Errors + t.Unsent
		byMachine := t.Late - t.LateBusy - t.LateWaiting
		tried.Late, requests = tried.Late+byMachine, requests+t.Requests
		slow = slow || byMachine*lateShare > t.Requests
		if behind := t.Lateness.P99MS * t.RateAsked * behindShare; behind > float64(t.Requests)*1e3 && tried.Why == "" {
			tried.Why = fmt.Sprintf("it is not kept up with: requests start %s late", asDuration(t.Lateness.P99MS))
		}
		if !ofErrors && t.Errors+t.Unsent > 0 && tried.Why == "" {
			tried.Why = plural(t.Errors+t.Unsent, "error")
		}
		if !ofUnlinked && t.Unlinked > 0 && tried.Why == "" {
			tried.Why = count(t.Unlinked) + " unlinked"
		}
	}
	tried.Held = tried.Why == ""
	switch {
	case tried.Held:
		return tried, schedule.Held
	case slow:
		tried.Why += fmt.Sprintf(", while this machine was late with %s of %s", count(tried.Late), plural(requests, "request"))
		return tried, schedule.Limited
	}
	return tried, schedule.Failed
}

// lateShare is the part of the requests, as a divisor, from which on requests that
// this machine started late are a reason not to blame the target.
const lateShare = 20

// behindShare is the part of the time that a rate was sent for, as a divisor, by
// which requests may start late before the rate counts as one that was not sent.
const behindShare = 10

// String returns the rate with its interval, in a line.
func (f *FoundRate) String() string {
	text := number(f.Rate) + "/s holds"
	switch {
	case f.Rate == 0 && f.Below == 0:
		text = "no rate was tried to its end"
	case f.Rate == 0:
		text = "no rate holds, down to " + number(f.Below) + "/s"
	case f.Below > 0:
		text += ", " + number(f.Below) + "/s does not"
	}
	switch f.Limit {
	case "machine":
		more := "more"
		if f.Rate == 0 {
			more = "them in time"
		}
		text += ": this machine cannot send " + more + ", whatever the target can"
	case "interrupted":
		text += ", when it was interrupted"
	case "tries":
		text += ", and no end was in sight"
	}
	return text
}

// writeFound writes what was found and the curve of what was tried.
func writeFound(w io.Writer, f *FoundRate) {
	if f == nil {
		return
	}
	fmt.Fprintf(w, "highest rate with %s\n  %s\n\n", strings.Join(f.Conditions, " and "), f)
	fmt.Fprintf(w, "  %10s %10s %10s %10s %8s\n", "RATE", "ANSWERED", "P50", "P99", "ERRORS")
	for _, t := range f.Tried {
		verdict := "held"
		if !t.Held {
			verdict = "failed: " + t.Why
		}
		fmt.Fprintf(w, "  %10s %10s %10s %10s %8d  %s\n", number(t.Rate)+"/s", number(t.AnswerRate)+"/s", asDuration(t.P50MS), asDuration(t.P99MS), t.Errors, verdict)
	}
	fmt.Fprintln(w)
}

// test returns the case that there is a rate that holds.
func (f *FoundRate) test() junitCase {
	test := junitCase{Name: Escape("highest rate with " + strings.Join(f.Conditions, " and "))}
	var curve strings.Builder
	writeFound(Escaping(&curve), f)
	text := Escape(f.String())
	switch {
	case f.Limit == "interrupted":
		test.Error = &junitMessage{text, curve.String()}
	case f.Rate == 0:
		test.Failure = &junitMessage{text, curve.String()}
	default:
		test.Output = curve.String()
	}
	return test
}

// reasons returns what was found as a reason of a verdict, none if nothing was
// searched.
func (f *FoundRate) reasons() []string {
	if f == nil {
		return nil
	}
	return []string{f.String()}
}

// markdownTries is how many of the rates that were tried a comment has at most.
const markdownTries = 40

// markdown writes what was found, and folded what was tried.
func (f *FoundRate) markdown(m *strings.Builder) {
	if f == nil {
		return
	}
	names := make([]string, len(f.Conditions))
	for i, c := range f.Conditions {
		names[i] = code(c)
	}
	fmt.Fprintf(m, "**Highest rate** with %s: %s\n\n", strings.Join(cutList(names, maxReasons, "conditions"), " and "), plain(f.String(), 2*markdownText))
	fmt.Fprintf(m, "<details><summary>%s tried</summary>\n\n", plural(int64(len(f.Tried)), "rate"))
	header(m, "|", "rate", "answered", "p50", "p99", "errors", "why not")
	for i, t := range f.Tried {
		if i == markdownTries {
			fmt.Fprintf(m, "\n%d more rates are in the whole report.\n", len(f.Tried)-i)
			break
		}
		mark := "✅"
		if !t.Held {
			mark = "❌"
		}
		cells(m, mark, rate(t.Rate), rate(t.AnswerRate), duration(t.P50MS), duration(t.P99MS), count(t.Errors), plain(t.Why, markdownText))
	}
	m.WriteString("\n</details>\n\n")
}

func asDuration(ms float64) string {
	return fmt.Sprintf("%.2f ms", time.Duration(ms*float64(time.Millisecond)).Seconds()*1e3)
}

// number returns a rate with as many digits as are of use.
func number(rate float64) string {
	switch {
	case rate >= 100:
		return fmt.Sprintf("%.0f", rate)
	case rate >= 10:
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.2f", rate)
}
