// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	maxOutcomes = 100 // of a stage of the simulator
	maxBanded   = 10  // of which each may become several
	leastTimed  = 100 // answers with a body that have a latency of their own
)

// writing is a route on its way into the model.
type writing struct {
	seen     *observed
	route    *Route
	speed    float64
	contents []*contents // of the answers
	fields   [][]Field
	body     *contents // that the route has
	tell     func(reply) reply
}

// outcomes returns what the requests of a stage were answered: first those of
// the order, if there is one, and of the others the most frequent last. It
// returns as well how many requests there is no outcome for.
func (w *writing) outcomes(all []observation, first *order) (outcomes []Outcome, rare int) {
	took := make(map[reply][]int64)
	for _, o := range all {
		k := w.tell(o.reply)
		took[k] = append(took[k], o.took)
	}
	pooled := w.pooled(took)
	var ahead []Outcome
	left := len(all)
	n := make(map[reply]int, len(took))
	for k := range took {
		n[k] = len(took[k])
	}
	if first != nil {
		for k, taken := range first.taken {
			taken = min(taken, n[k])
			n[k] -= taken
			left -= taken
		}
		for _, run := range first.runs() {
			o := w.outcome(run.reply, pooled[run.reply])
			o.First, o.N = run.first, run.n
			ahead = append(ahead, o)
		}
	}
	kinds := w.ascending(n)
	if most := maxOutcomes/2 - len(ahead); len(kinds) > most {
		for _, k := range kinds[:len(kinds)-most] {
			rare += n[k]
		}
		kinds = kinds[len(kinds)-most:]
	}
	for _, k := range kinds {
		o := w.outcome(k, pooled[k])
		o.N = n[k]
		o.Percent = 100 * float64(n[k]) / float64(max(left, 1))
		if len(kinds) > maxBanded {
			outcomes = append(outcomes, o)
		} else {
			outcomes = append(outcomes, w.banded(o, k)...)
		}
	}
	if len(outcomes) == 0 && len(ahead) > 0 {
		ahead[len(ahead)-1].First = "" // what comes last stays
	}
	return append(ahead, outcomes...), rare
}

// pooled returns how long the replies of each kind took: those of an answer with
// a body that is rare together with others of it, as of few there are no
// percentiles.
func (w *writing) pooled(took map[reply][]int64) map[reply][]int64 {
	rare := make(map[int32][]int64)
	for k, list := range took {
		if len(list) < leastTimed {
			rare[k.answer] = append(rare[k.answer], list...)
		}
	}
	all := make(map[reply][]int64, len(took))
	for k, list := range took {
		if len(list) < leastTimed {
			list = rare[k.answer]
		}
		all[k] = list
	}
	return all
}

// ascending returns the kinds of replies that there are, the most frequent last.
func (w *writing) ascending(n map[reply]int) (kinds []reply) {
	for k := range n {
		if n[k] > 0 {
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b reply) int {
		p, q := w.seen.answers[a.answer], w.seen.answers[b.answer]
		return cmp.Or(cmp.Compare(n[a], n[b]), cmp.Compare(p.status, q.status), strings.Compare(p.fault, q.fault), cmp.Compare(b.body, a.body))
	})
	return kinds
}

// outcome returns the outcome of a kind of replies that took so long.
func (w *writing) outcome(k reply, took []int64) Outcome {
	a := w.seen.answers[k.answer]
	o := Outcome{Status: a.status, Fault: a.fault, Latency: latencyOf(took, w.speed), Timed: len(took)}
	switch a.fault {
	case "cut":
		o.Fault = fmt.Sprintf("cut %.0f", min(99, 100*a.cut/float64(max(a.n, 1))))
	case "hang":
		o.Latency = "0"
	}
	if a.fault != "" && a.fault != "cut" {
		return o // nothing of it is seen
	}
	for _, f := range w.fields[k.answer] {
		if !slices.Contains(w.route.Fields, f) {
			o.Fields = append(o.Fields, f)
		}
	}
	if a.fault == "cut" && a.status/100 == 2 && w.body != nil {
		return o // the part that came is of the same
	}
	body := w.contents[k.answer].most
	if k.body >= 0 {
		body = w.contents[k.answer].each[k.body]
	}
	if body != w.route.Body && hasBody(a.status) {
		o.Body = body
	}
	return o
}

// banded returns an outcome, or, where one range of sizes is not as its bodies
// were, one for each fifth of them.
func (w *writing) banded(o Outcome, k reply) []Outcome {
	bands := w.contents[k.answer].bands
	if len(bands) == 0 || !hasBody(o.Status) || o.Fault != "" || o.N < len(bands) {
		return []Outcome{o}
	}
	var parts []Outcome
	for i, body := range bands {
		part := o
		part.N = (i+1)*o.N/len(bands) - i*o.N/len(bands)
		part.Percent = o.Percent * float64(part.N) / float64(o.N)
		part.Body = body
		parts = append(parts, part)
	}
	return parts
}
