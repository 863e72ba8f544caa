// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxPaths    = 200 // places of a JSON document that are looked at
	maxDepth    = 8
	maxElements = 5 // of an array
)

// membersOf returns the places that a JSON document has values at, sorted; nil
// for what is none.
func membersOf(body []byte) []string {
	if len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return nil
	}
	var document any
	if json.Unmarshal(body, &document) != nil {
		return nil
	}
	paths := map[string]bool{"$": true}
	collect(document, "$", 0, paths)
	return slices.Sorted(maps.Keys(paths))
}

func collect(value any, path string, depth int, paths map[string]bool) {
	if depth > maxDepth || len(paths) >= maxPaths {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if len(paths) >= maxPaths {
				return
			}
			paths[path+"."+name] = true
			collect(value[name], path+"."+name, depth+1, paths)
		}
	case []any:
		for i, element := range value {
			if i >= maxElements {
				return
			}
			collect(element, path+"[*]", depth+1, paths)
		}
	}
}

// likeness is what responses of one kind have in common.
type likeness struct {
	status int
	fault  string
	forms  map[uint64]bool // of JSON bodies
	text   bool            // there are bodies that are no JSON
}

func (a *answer) likeness() likeness {
	l := likeness{status: a.status, fault: a.fault, forms: make(map[uint64]bool)}
	for _, b := range a.list {
		masked, _ := maskBody(b.content)
		if membersOf(masked) == nil {
			l.text = true
		} else {
			l.forms[formOf(masked)] = true
		}
	}
	return l
}

// Route returns the route of a request, nil if there is none.
func (m *Model) Route(r *recording.Request) *Route {
	kind := m.plan.find(r)
	if kind == nil {
		return nil
	}
	variant := kind.variant(r)
	for _, route := range m.Routes {
		if shape(kind.pattern) == (shape{route.Method, route.Path}) && route.joined() == variant {
			return route
		}
	}
	return nil
}

func (r *Route) joined() (values string) {
	for _, key := range r.Keys {
		values += "\x01" + key.Value
	}
	return values
}

// Has reports whether the recording has a response like this one for the route:
// of the same status and with a body of the same members if that is JSON, or
// one that is broken too.
func (r *Route) Has(status int, broken bool, body []byte) bool {
	for _, l := range r.known {
		if broken != (l.fault != "") || !broken && l.status != status {
			continue
		}
		if broken || !hasBody(status) || len(l.forms) == 0 || l.text || l.forms[formOf(body)] {
			return true
		}
	}
	return false
}

// StageAt returns the number of the stage, from 0, that a moment of the recording
// belongs to, in nanoseconds since 1970.
func (m *Model) StageAt(r *Route, at int64, speed float64) int {
	elapsed := time.Duration(float64(at-m.Begin.UnixNano()) / speed)
	number := 0
	for i, s := range r.Stages {
		if s.At <= elapsed {
			number = i
		}
	}
	return number
}

// Only returns the model in which all routes have one stage, the one of a
// number or the last, which holds from the begin, and take no time; chances are
// the same each time.
func (m *Model) Only(number int) *Model {
	only := *m
	only.Routes, only.seeded = nil, true
	for _, r := range m.Routes {
		route := *r
		stage := r.Stages[min(number, len(r.Stages)-1)]
		stage.At, stage.Outcomes = 0, slices.Clone(stage.Outcomes)
		for i := range stage.Outcomes {
			stage.Outcomes[i].Latency = "0"
		}
		route.Stages = []Stage{stage}
		only.Routes = append(only.Routes, &route)
	}
	return &only
}

// Happened returns status and fault of a recorded response, as Has takes them;
// false if its client did not wait for it.
func Happened(r *recording.Response) (status int, fault string, ok bool) {
	w, ok := whatOf(r)
	return w.status, w.fault, ok
}
