// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
)

// Outcome is what a run came to.
type Outcome string

// What a run can come to.
const (
	Passed     Outcome = "passed"     // all conditions hold, and all was answered that had to be
	Failed     Outcome = "failed"     // a condition does not hold
	Incomplete Outcome = "incomplete" // something was not sent, not answered or not read
	NotJudged  Outcome = "not judged" // all was answered, and no condition was given
)

// Verdict is what a run came to, and why, in sentences without a full stop.
type Verdict struct {
	Outcome Outcome
	Reasons []string
}

// Verdict returns what the report says of its run as a whole, as the command's
// exit status does. Where errors are judged by a condition that holds they are
// no reason against it.
func (r *Report) Verdict() Verdict {
	var failed []string
	for _, c := range r.Checks {
		if !c.OK {
			failed = append(failed, fmt.Sprintf("%s: %s does not hold: it is %s", label(c.Target), c.Condition, c.Value))
		}
	}
	missing := r.missing()
	found := r.Found.reasons()
	switch {
	case r.Found != nil && r.Found.Limit == "interrupted":
		return Verdict{Incomplete, append(found, missing...)}
	case r.Found != nil && r.Found.Rate == 0:
		return Verdict{Failed, append(append(found, failed...), missing...)}
	case len(failed) > 0:
		return Verdict{Failed, append(failed, missing...)}
	case len(missing) > 0:
		return Verdict{Incomplete, missing}
	}
	answered := "all requests were answered"
	if r.errorsAllowed() {
		answered = "errors are within what is allowed"
	}
	if r.Interrupted {
		answered = "the run was interrupted"
	}
	if len(r.Checks) == 0 {
		return Verdict{NotJudged, append(found, answered, "no condition was given")}
	}
	conditions := make(map[string]bool)
	for _, c := range r.Checks {
		conditions[c.Condition] = true
	}
	holds := "the condition holds"
	switch n := len(conditions); {
	case n == 2:
		holds = "both conditions hold"
	case n > 2:
		holds = fmt.Sprintf("all %d conditions hold", n)
	}
	return Verdict{Passed, append(found, holds, answered)}
}

// missing returns what the run lacks of what it was to do.
func (r *Report) missing() (reasons []string) {
	switch {
	case r.Interrupted && len(r.Checks) > 0 && r.nothingJudged():
		reasons = append(reasons, "the run was interrupted before there was anything to judge")
	case r.nothingSent() && !r.Interrupted && r.Shard == nil:
		reasons = append(reasons, "nothing was sent")
	}
	if n := len(r.Problems); n > 0 {
		reasons = append(reasons, "part of the recording could not be read")
	}
	for _, lack := range r.Incomplete {
		reasons = append(reasons, Escape(lack))
	}
	errorsAllowed, unlinkedAllowed := r.errorsAllowed(), r.judged(Condition.OfUnlinked)
	for _, t := range r.Targets {
		all := count(t.Requests + t.Unsent + t.Unlinked)
		if t.Unlinked > 0 && !unlinkedAllowed {
			reasons = append(reasons, fmt.Sprintf("%s: %s of %s requests were not sent, since what they need was in no answer",
				label(t.Name), count(t.Unlinked), all))
		}
		if errorsAllowed {
			continue
		}
		if t.Unsent > 0 {
			reasons = append(reasons, fmt.Sprintf("%s: %s of %s requests were not started in time", label(t.Name), count(t.Unsent), all))
		}
		if t.Errors > 0 {
			reasons = append(reasons, fmt.Sprintf("%s: %s of %s requests have no answer", label(t.Name), count(t.Errors), all))
		}
	}
	return reasons
}

// nothingSent reports whether no target had anything to answer.
func (r *Report) nothingSent() bool {
	return !slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Requests+t.Unsent+t.Unlinked > 0 })
}

// nothingJudged reports whether all that was sent was broken off by the end of the
// run.
func (r *Report) nothingJudged() bool {
	return !slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Answers+t.Errors+t.Unsent+t.Unlinked > 0 })
}

// errorsAllowed reports whether a condition that holds is about errors.
func (r *Report) errorsAllowed() bool { return r.judged(Condition.OfErrors) }

// judged reports whether a condition that holds is about something.
func (r *Report) judged(about func(Condition) bool) bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool {
		condition, err := ParseCondition(c.Condition)
		return c.OK && err == nil && about(condition)
	})
}
