// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxObservations = 1_000_000
	maxAnswers      = 20_000   // of all routes
	maxStatuses     = 60       // of a route, broken ones apart
	maxHeaders      = 16 << 20 // bytes of lines of header that are kept
	maxFields       = 200      // different lines of header of an answer
)

// Learner is the second reading of a recording.
type Learner struct {
	plan   *Plan
	routes []*observed
	byKey  map[*kindPlan]map[string]*observed

	seen, every   int64 // exchanges with a response; every how manyth is looked at
	observations  int
	answers       int
	bodies        bodies
	headers       int   // bytes of lines of header that may still be kept
	sessions      int   // that may still be kept
	crowd         int64 // when it is worth it to look again for those to let go
	from, to      int64 // times of the first and the last request, in nanoseconds since 1970
	untimed, left int64 // exchanges without a time; that their clients left
	crowded       int64 // of statuses that there were too many of
}

// observed is what was seen of a route.
type observed struct {
	kind    *kindPlan
	variant string
	n       int64
	all     []observation
	answers []*answer
	byWhat  map[what]int32
	turns   turns
}

// observation is one exchange.
type observation struct {
	at, took int64 // nanoseconds
	reply
}

// what is that by which answers are told apart.
type what struct {
	status int
	fault  string // as the simulator's words have it, without a share
}

// answer is all responses of a route that are alike.
type answer struct {
	what
	n      int
	cut    float64 // the sum of the shares of the body that came
	fields map[string]int
	bodies map[uint64]int32 // by their hashes
	list   []*body
	other  int // bodies that there were too many of
	sizes  sizes
}

// NewLearner returns a learner for a plan.
func NewLearner(p *Plan) *Learner {
	return &Learner{
		plan: p, byKey: make(map[*kindPlan]map[string]*observed), every: 1,
		headers: maxHeaders, sessions: allSessions, bodies: bodies{room: maxKept},
	}
}

// Add takes an exchange in.
func (l *Learner) Add(r *recording.Request) {
	if r.Response == nil {
		return
	}
	kind := l.plan.find(r)
	if kind == nil {
		return
	}
	happened, whole := whatOf(r.Response)
	if !whole {
		l.left++
		return
	}
	if r.TimeNS == 0 {
		l.untimed++
	} else {
		if l.from == 0 || r.TimeNS < l.from {
			l.from = r.TimeNS
		}
		l.to = max(l.to, r.TimeNS)
	}
	o := l.route(kind, kind.variant(r))
	i := l.answer(o, happened)
	if i < 0 {
		l.crowded++
		return
	}
	o.n++
	l.seen++
	if l.seen%l.every != 0 {
		return
	}
	got := reply{i, l.add(o.answers[i], r.Response)}
	o.all = append(o.all, observation{r.TimeNS, r.Response.DurationNS, got})
	if l.every == 1 {
		o.turns.add(r, got, &l.sessions)
		if l.sessions == 0 && l.seen >= l.crowd {
			l.makeRoom()
		}
	}
	if l.observations++; l.observations >= maxObservations {
		l.halve()
	}
}

// makeRoom drops the sessions by keys that hardly ever come twice.
func (l *Learner) makeRoom() {
	l.crowd = 2 * l.seen
	for _, o := range l.routes {
		for _, s := range o.turns {
			l.sessions += s.rest()
		}
	}
}

func (l *Learner) halve() {
	l.every *= 2
	l.observations = 0
	for _, o := range l.routes {
		kept := o.all[:0]
		for i, seen := range o.all {
			if i%2 == 1 {
				kept = append(kept, seen)
			}
		}
		o.all = kept
		l.observations += len(kept)
	}
}

func (l *Learner) route(kind *kindPlan, variant string) *observed {
	routes := l.byKey[kind]
	if routes == nil {
		routes = make(map[string]*observed)
		l.byKey[kind] = routes
	}
	o := routes[variant]
	if o == nil {
		o = &observed{kind: kind, variant: variant, byWhat: make(map[what]int32)}
		routes[variant] = o
		l.routes = append(l.routes, o)
	}
	return o
}

// answer returns the number of an answer of a route, -1 if there are too many.
func (l *Learner) answer(o *observed, w what) int32 {
	i, ok := o.byWhat[w]
	if ok {
		return i
	}
	if len(o.answers) >= maxStatuses || l.answers >= maxAnswers {
		return -1
	}
	l.answers++
	i = int32(len(o.answers)) //nolint:gosec // there are few
	o.byWhat[w] = i
	o.answers = append(o.answers, &answer{what: w, fields: make(map[string]int), bodies: make(map[uint64]int32), sizes: sizes{stride: 1}})
	return i
}

// whatOf returns what a response was; false if its client did not wait for it.
func whatOf(r *recording.Response) (w what, whole bool) {
	text := strings.ToLower(string(r.Error))
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	}
	status := r.Status
	if status != 0 && (status < 200 || status > 999) {
		return what{}, false // an upgrade
	}
	switch {
	case text == "" && status != 0, strings.HasPrefix(text, "left to the error routes") && status != 0:
		return what{status: status}, true
	case has("canceled", "client has left", "client left"):
		return what{}, false
	case status != 0:
		return what{status, "cut"}, true
	case has("timeout", "timed out", "deadline"):
		return what{fault: "hang"}, true
	case has("reset", "refused", "broken pipe"):
		return what{fault: "reset"}, true
	}
	return what{fault: "empty"}, true
}

// maxSize is the most bytes that a body of random content has: a recording that is
// damaged may say any number.
const maxSize = 64 << 30

// add takes a response in, and returns the number of its body, -1 if it is none
// of those that are told apart.
func (l *Learner) add(a *answer, r *recording.Response) int32 {
	a.n++
	length := 0
	for name, value := range recording.EachField(r.Headers) {
		if strings.EqualFold(string(name), "Content-Length") {
			length, _ = strconv.Atoi(string(value))
		}
		if volatile[strings.ToLower(string(name))] {
			continue
		}
		line := string(name) + ": " + string(maskField(name, value))
		if _, known := a.fields[line]; !known {
			if len(a.fields) >= maxFields || l.headers < len(line) {
				continue
			}
			l.headers -= len(line)
		}
		a.fields[line]++
	}
	size := int(min(max(r.BodySize, uint64(len(r.Body))), maxSize)) //nolint:gosec // it is that
	length = min(length, maxSize)
	if a.fault == "cut" {
		share := 0.5
		if length > 0 {
			share = min(1, float64(size)/float64(length))
			size = length
		}
		a.cut += share
	}
	a.sizes.add(size)
	return l.bodies.add(a, r, size)
}
