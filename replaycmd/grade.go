// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/learn"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// grade is what comes of giving the requests of a recording to the simulator
// that was learned of it. The simulator takes no time meanwhile: for each number
// of a stage there is a copy that stays in it and has no latencies. Latencies are
// compared apart, as the file has them.
type grade struct {
	learning *learning
	learner  *learn.Learner
	model    *learn.Model
	options  learn.Options
	stages   map[int]caddyhttp.Handler
	release  []context.CancelFunc

	forms        known
	all, matched int64
	routes       map[*learn.Route]*routeGrade
}

type routeGrade struct {
	n, matched     int64
	recorded, made map[string]int64 // by status; broken ones under one word
}

func newGrade(l *learning, learner *learn.Learner, model *learn.Model, options learn.Options) *grade {
	return &grade{
		learning: l, learner: learner, model: model, options: options,
		stages: make(map[int]caddyhttp.Handler), forms: make(known), routes: make(map[*learn.Route]*routeGrade),
	}
}

// add sends one request to the learned simulator.
func (g *grade) add(r *recording.Request) error {
	if r.Response == nil {
		return nil
	}
	recorded, fault, whole := learn.Happened(r.Response)
	route := g.model.Route(r)
	if !whole {
		return nil
	}
	g.all++
	if route == nil {
		return nil
	}
	handler, err := g.stage(g.model.StageAt(route, r.TimeNS, g.options.Speed))
	if err != nil {
		return err
	}
	status, body, broken := ask(handler, r)
	of := g.routes[route]
	if of == nil {
		of = &routeGrade{recorded: make(map[string]int64), made: make(map[string]int64)}
		g.routes[route] = of
	}
	of.n++
	of.recorded[word(recorded, fault != "")]++
	of.made[word(status, broken)]++
	if g.forms.has(route, status, broken, body) {
		of.matched++
		g.matched++
	}
	return nil
}

// known remembers of the latest response of each route and status whether the
// recording has such a one: most are the same again.
type known map[knownOf]knownBody

type knownOf struct {
	route  *learn.Route
	status int
}

type knownBody struct {
	body []byte
	has  bool
}

func (k known) has(route *learn.Route, status int, broken bool, body []byte) bool {
	if broken {
		return route.Has(status, broken, body)
	}
	latest, ok := k[knownOf{route, status}]
	if !ok || !bytes.Equal(latest.body, body) {
		latest = knownBody{body, route.Has(status, broken, body)}
		k[knownOf{route, status}] = latest
	}
	return latest.has
}

func word(status int, broken bool) string {
	if broken {
		return "broken"
	}
	return strconv.Itoa(status)
}

// figures returns what conditions are about.
func (g *grade) figures() map[string]float64 {
	figures := map[string]float64{"match": float64(g.matched) / float64(max(g.all, 1))}
	for route, of := range g.routes {
		figures["mix"] = max(figures["mix"], of.mix())
		figures["ks"] = max(figures["ks"], g.learner.Distance(g.model, route, g.options))
	}
	return figures
}

// mix returns half the sum of the differences between the shares of statuses.
func (r *routeGrade) mix() (sum float64) {
	for status, n := range r.recorded {
		if d := float64(n-r.made[status]) / float64(r.n); d > 0 {
			sum += d
		}
	}
	return sum
}

// print writes the grade, and ends the simulators.
func (g *grade) print(w io.Writer) {
	for _, release := range g.release {
		release()
	}
	fmt.Fprintf(w, "graded by %d requests: match %.4f\n", g.all, float64(g.matched)/float64(max(g.all, 1)))
	fmt.Fprintf(w, "%10s %8s %8s %8s  %s\n", "REQUESTS", "MATCH", "MIX", "KS", "ROUTE")
	routes := slices.Clone(g.model.Routes)
	slices.SortStableFunc(routes, func(a, b *learn.Route) int { return cmp.Compare(b.N, a.N) })
	for _, route := range routes {
		if of := g.routes[route]; of != nil {
			fmt.Fprintf(w, "%10d %8.4f %8.4f %8.4f  %s\n", of.n, float64(of.matched)/float64(of.n), of.mix(),
				g.learner.Distance(g.model, route, g.options), route.Name)
		}
	}
}

// judge reports whether all conditions hold, and writes those that do not.
func (g *grade) judge(w io.Writer, conditions []gradeCondition) bool {
	figures, ok := g.figures(), true
	for _, c := range conditions {
		if got := figures[c.figure]; !c.holds(got) {
			fmt.Fprintf(w, "failed: %s, it is %.4f\n", c.text, got)
			ok = false
		}
	}
	return ok
}

// gradeCondition is what has to hold of a grade.
type gradeCondition struct {
	text, figure string
	holds        func(float64) bool
}

// parseGradeCondition reads a figure, <, <=, > or >=, and a number.
func parseGradeCondition(text string) (gradeCondition, error) {
	compact := strings.ReplaceAll(text, " ", "")
	at := strings.IndexAny(compact, "<>")
	if at < 0 {
		return gradeCondition{}, fmt.Errorf("'%s' is not a condition: expected one like match>=0.95", text)
	}
	c := gradeCondition{text: compact, figure: compact[:at]}
	if c.figure != "match" && c.figure != "mix" && c.figure != "ks" {
		return c, fmt.Errorf("'%s' is not a condition: there is no figure '%s': expected match, mix or ks", text, c.figure)
	}
	rest, orEqual := strings.CutPrefix(compact[at+1:], "=")
	limit, err := strconv.ParseFloat(rest, 64)
	if err != nil {
		return c, fmt.Errorf("'%s' is not a condition: '%s' is not a number", text, rest)
	}
	less := compact[at] == '<'
	c.holds = func(got float64) bool { return got == limit && orEqual || got < limit && less || got > limit && !less }
	return c, nil
}
