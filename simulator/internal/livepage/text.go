// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

// mostStages bounds how many stages of a route are shown.
const mostStages = 100

// text is what the page says of a recipe while it runs, or of a mapping.
type text struct {
	// ID is another one for every start of every recipe.
	ID    uint64 `json:"id"`
	Route string `json:"route"`
	// Words are what the recipe says beside its stages.
	Words []string `json:"words"`
	// Stages are missing for a mapping.
	Stages []stage `json:"stages,omitempty"`
	// Period is the seconds after which they begin again; 0 if they do not.
	Period float64 `json:"period"`
	// More is the number of stages that are not shown.
	More int `json:"more"`
	// End is the time, in seconds, at which the last stage that is shown ends; 0 if
	// it stays.
	End float64 `json:"end"`
}

// stage is what the page says of a stage.
type stage struct {
	At       float64   `json:"at"` // seconds
	Outcomes []outcome `json:"outcomes"`
}

// outcome is what the page says of a stage's outcome.
type outcome struct {
	Status  int      `json:"status"`
	Latency string   `json:"latency"`
	Words   []string `json:"words"`
}

// unrouted is the title of requests that no route took.
const unrouted = "no route"

var ids atomic.Uint64

func newText(view scenario.View) *text {
	r := view.Recipe
	if view.Name == "" {
		return &text{ID: ids.Add(1), Route: unrouted, Words: []string{}}
	}
	if r == nil {
		return &text{ID: ids.Add(1), Route: view.Name, Words: []string{"mapping"}}
	}
	t := &text{
		ID:     ids.Add(1),
		Route:  r.Route,
		Words:  words(r, "route", "stages"),
		Period: r.Period().Seconds(),
		More:   max(0, len(r.Stages)-mostStages),
	}
	t.End = t.Period
	if t.More > 0 {
		t.End = time.Duration(r.Stages[mostStages].At).Seconds()
	}
	for _, s := range r.Stages[:len(r.Stages)-t.More] {
		said := stage{At: time.Duration(s.At).Seconds()}
		for _, o := range s.Outcomes {
			said.Outcomes = append(said.Outcomes, outcome{o.Status, o.Latency.String(), words(o, "status", "latency")})
		}
		t.Stages = append(t.Stages, said)
	}
	return t
}

// words returns what a part of a recipe holds, in the words of its JSON, but for
// the fields in except.
func words(part any, except ...string) []string {
	list := []string{}
	document, err := json.Marshal(part)
	if err != nil {
		return list
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(document, &fields) != nil {
		return list
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(except, name) && string(fields[name]) != "null" {
			list = append(list, name+valueOf(fields[name]))
		}
	}
	return list
}

// longest bounds the text of a value, in characters.
const longest = 60

// valueOf returns a value as it is written after its name, and nothing for what is
// only switched on.
func valueOf(value json.RawMessage) string {
	var out string
	if json.Unmarshal(value, &out) != nil {
		var compact bytes.Buffer
		_ = json.Compact(&compact, value) // was read before
		out = compact.String()
	}
	if out == "true" {
		return ""
	}
	characters := 0
	for end := range out {
		if characters++; characters > longest {
			return " " + out[:end] + "…"
		}
	}
	return " " + out
}

// texts keeps what was said of recipes as long as they run: some are large, and
// the page knows by the ID that nothing has changed.
type texts struct {
	mu    sync.Mutex
	known map[subject]*text
}

// subject is what a text is about.
type subject struct {
	name   string
	recipe *recipe.Recipe
}

func subjectOf(view scenario.View) subject { return subject{view.Name, view.Recipe} }

// of returns the texts of the routes that are shown, out of those that run.
func (t *texts) of(shown, running []scenario.View) []*text {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := make(map[subject]*text, len(shown))
	for _, view := range running {
		if said, ok := t.known[subjectOf(view)]; ok {
			known[subjectOf(view)] = said
		}
	}
	t.known = known
	list := make([]*text, len(shown))
	for i, view := range shown {
		said, ok := known[subjectOf(view)]
		if !ok {
			said = newText(view)
			known[subjectOf(view)] = said
		}
		list[i] = said
	}
	return list
}
