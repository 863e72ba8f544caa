// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Model is what was learned.
type Model struct {
	Exchanges int64 // that were learned from
	Every     int64 // every how manyth of them was looked at for shares and latency
	Begin     time.Time
	Span      time.Duration
	Routes    []*Route
	// Replaced are the values that were replaced as they look secret, by their
	// places.
	Replaced []string
	// Notes are what could not be learned.
	Notes []string

	plan   *Plan
	seeded bool // for grading, which has to come to the same each time
}

// Route is what requests of one kind are answered.
type Route struct {
	Name   string // made of method and path
	Method string
	Path   string // with a star for each segment that is a parameter
	Keys   []KeyValue
	N      int64
	Body   *Content   // of the answer that has most of the requests
	Fields []Field    // of all answers
	Stages []Stage    // at least one
	known  []likeness // what the recording has
}

// KeyValue is a value that requests of a route have at a place.
type KeyValue struct {
	Place Place
	Value string
}

// Stage is what holds from a moment on.
type Stage struct {
	At       time.Duration
	N        int
	Outcomes []Outcome // the last one is the rest
}

// Outcome is one of the answers of a stage.
type Outcome struct {
	N       int
	First   string // as the simulator's `first` has it, or empty
	Percent float64
	Status  int
	Fault   string // as the simulator's `fault` has it, or empty
	Latency string
	Timed   int      // observations that the latency is from
	Fields  []Field  // beyond those of the route
	Body    *Content // nil: the route's
}

// Options are what may be chosen of a model.
type Options struct {
	Stages bool    // changes of errors and latency become stages
	Speed  float64 // that an incident plays at; 1 is its own pace
}

var errNothingWhole = errors.New("nothing to learn from: all clients left before they had their response")

// Model returns what was learned.
func (l *Learner) Model(o Options) (*Model, error) {
	if l.seen == 0 {
		return nil, errNothingWhole
	}
	m := &Model{Exchanges: l.seen, Every: l.every, Span: time.Duration(l.to - l.from), plan: l.plan}
	if l.from != 0 {
		m.Begin = time.Unix(0, l.from).UTC()
	}
	m.note(l.plan.Without, "exchanges without a response were left out")
	m.note(l.plan.LeftOut, "exchanges were left out, since there are too many kinds of them")
	m.note(l.left, "exchanges were left out, since their clients left or they were upgrades")
	m.note(l.crowded, "exchanges were left out, since there are too many kinds of answers")
	m.note(l.untimed, "exchanges have no time: stages know nothing of them")
	slices.SortFunc(l.routes, func(a, b *observed) int {
		p, q := slices.Index(l.plan.kinds, a.kind), slices.Index(l.plan.kinds, b.kind)
		// a path that Caddy would clean comes first, since patterns of others fit it
		// cleaned; those with a key do, since they are asked first
		return cmp.Or(cmp.Compare(cleanness(a), cleanness(b)), cmp.Compare(p, q), cmp.Compare(len(b.variant), len(a.variant)), strings.Compare(a.variant, b.variant))
	})
	names := make(map[string]int)
	for _, seen := range l.routes {
		if len(seen.all) == 0 {
			continue // all were between those that are looked at
		}
		r := l.learn(seen, o, m)
		names[r.Name]++
		if n := names[r.Name]; n > 1 {
			r.Name = fmt.Sprintf("%s_%d", r.Name, n)
		}
		m.Routes = append(m.Routes, r)
	}
	m.nameFiles()
	slices.Sort(m.Replaced)
	m.Replaced = slices.Compact(m.Replaced)
	return m, nil
}

func (m *Model) note(n int64, what string) {
	if n > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("%d %s", n, what))
	}
}

func (l *Learner) learn(seen *observed, o Options, m *Model) *Route {
	r := &Route{Name: nameOf(seen.kind.pattern), Method: seen.kind.pattern.method, Path: seen.kind.pattern.path, N: seen.n}
	if seen.variant != "" {
		for i, value := range strings.Split(seen.variant, "\x01")[1:] {
			r.Keys = append(r.Keys, KeyValue{seen.kind.key[i], value})
		}
	}
	slices.SortStableFunc(seen.all, func(a, b observation) int { return cmp.Compare(a.at, b.at) })
	w := &writing{seen: seen, speed: o.Speed, contents: make([]*contents, len(seen.answers)), fields: make([][]Field, len(seen.answers))}
	for i, a := range seen.answers {
		w.contents[i], w.fields[i] = a.contents(), a.header()
		for _, name := range w.contents[i].replaced {
			m.Replaced = append(m.Replaced, fmt.Sprintf("%s in the body of %s %s", name, r.Method, r.Path))
		}
		m.note(int64(w.contents[i].partial), fmt.Sprintf("responses of %s with status %d have no body that was recorded whole: it is random text", r.title(), a.status))
		for _, f := range w.fields[i] {
			if (strings.EqualFold(f.Name, "Set-Cookie") || isSecretName(f.Name)) && !strings.Contains(f.Value, redacted) {
				m.Replaced = append(m.Replaced, fmt.Sprintf("the value of %s of %s %s", f.Name, r.Method, r.Path))
				continue
			}
			maskParameters([]byte(f.Value), func(name string) {
				m.Replaced = append(m.Replaced, fmt.Sprintf("%s in %s of %s %s", name, f.Name, r.Method, r.Path))
			})
		}
		r.known = append(r.known, a.likeness())
	}
	w.tell = tell(w.contents)
	for _, i := range seen.byCount() {
		if a := seen.answers[i]; a.fault == "" && a.status/100 == 2 && hasBody(a.status) {
			w.body = w.contents[i] // of the most frequent one in the end
		}
	}
	if w.body != nil {
		r.Body = w.body.most
	}
	r.Fields = common(w.fields)
	w.route = r
	cuts := []time.Duration{0}
	if o.Stages {
		failed := func(i int32) bool { return seen.answers[i].fault != "" || seen.answers[i].status >= 500 }
		cuts = append(cuts, newBins(seen.all, failed, l.from, m.Span).changes()...)
	}
	rest := seen.all
	from := int64(math.MinInt64)
	for i, cut := range cuts {
		end, to := len(rest), int64(math.MaxInt64)
		if i+1 < len(cuts) {
			to = l.from + int64(cuts[i+1])
			end, _ = slices.BinarySearchFunc(rest, to, func(o observation, at int64) int { return cmp.Compare(o.at, at) })
		}
		if end > 0 {
			stage := Stage{At: time.Duration(float64(cut) / o.Speed), N: end}
			var rare int
			stage.Outcomes, rare = w.outcomes(rest[:end], seen.turns.orderOf(from, to, end, w.tell))
			m.note(int64(rare), "exchanges of "+r.title()+" were left out, since a stage has no room for so many outcomes")
			r.Stages = append(r.Stages, stage)
		}
		rest, from = rest[end:], to
	}
	r.Stages[0].At = 0
	return r
}

// nameFiles names the bodies of all routes, for files that may have them.
func (m *Model) nameFiles() {
	taken := make(map[string]bool)
	name := func(r *Route, c *Content) {
		if c == nil || c.name != "" {
			return
		}
		c.name = r.Name
		for n := 2; taken[strings.ToLower(c.name)]; n++ {
			c.name = fmt.Sprintf("%s_%d", r.Name, n)
		}
		taken[strings.ToLower(c.name)] = true
	}
	for _, r := range m.Routes {
		name(r, r.Body)
	}
	for _, r := range m.Routes {
		for i := range r.Stages {
			for j := range r.Stages[i].Outcomes {
				name(r, r.Stages[i].Outcomes[j].Body)
			}
		}
	}
}

// byCount returns the answers with the fewest first.
func (o *observed) byCount() []int {
	n := make([]int, len(o.answers))
	order := make([]int, len(o.answers))
	for _, seen := range o.all {
		n[seen.answer]++
	}
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(n[a], n[b]), cmp.Compare(o.answers[a].status, o.answers[b].status), strings.Compare(o.answers[a].fault, o.answers[b].fault))
	})
	return order
}

// nameOf makes a name of method and path.
func nameOf(p pattern) string {
	var name strings.Builder
	for _, c := range strings.ToLower(p.method) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			name.WriteRune(c)
		}
	}
	gap := true
	for _, c := range p.path {
		switch {
		case c == '*':
			if gap {
				name.WriteByte('_')
			}
			name.WriteString("any")
			gap = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			if gap {
				name.WriteByte('_')
			}
			name.WriteRune(c)
			gap = false
		default:
			gap = true
		}
		if name.Len() > 60 {
			break
		}
	}
	return name.String()
}
