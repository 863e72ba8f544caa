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

	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
	"github.com/caddy-rehearsal/rehearsal/simulator/scenario"
)

// mostStages bounds how many stages of a route are shown.
const mostStages = 100

// text is what the page says of a recipe while it runs.
type text struct {
	// ID is another one for every start of every recipe.
	ID    uint64 `json:"id"`
	Route string `json:"route"`
	// Words are what the recipe says beside its stages.
	Words  []string `json:"words"`
	Stages []stage  `json:"stages"`
	// More is the number of stages that are not shown.
	More int `json:"more"`
}

// stage is what the page says of a stage.
type stage struct {
	At      float64  `json:"at"` // seconds
	Status  int      `json:"status"`
	Latency string   `json:"latency"`
	Words   []string `json:"words"`
}

var ids atomic.Uint64

func newText(r *recipe.Recipe) *text {
	t := &text{
		ID:    ids.Add(1),
		Route: r.Route,
		Words: words(r, "route", "stages"),
		More:  max(0, len(r.Stages)-mostStages),
	}
	for _, s := range r.Stages[:len(r.Stages)-t.More] {
		t.Stages = append(t.Stages, stage{
			At:      time.Duration(s.At).Seconds(),
			Status:  s.Status,
			Latency: s.Latency.String(),
			Words:   words(s, "at", "status", "latency"),
		})
	}
	return t
}

// words says, in the words of the recipe's JSON, what a part of it has beside
// some fields.
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

// valueOf gives a value as it is written after its name; what is only switched
// on needs none.
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
// the page tells by the ID that nothing has changed.
type texts struct {
	mu    sync.Mutex
	known map[*recipe.Recipe]*text
}

// of gives the texts of the routes that are shown, out of those that run.
func (t *texts) of(shown, running []scenario.View) []*text {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := make(map[*recipe.Recipe]*text, len(shown))
	for _, view := range running {
		if said, ok := t.known[view.Recipe]; ok {
			known[view.Recipe] = said
		}
	}
	t.known = known
	list := make([]*text, len(shown))
	for i, view := range shown {
		if known[view.Recipe] == nil {
			known[view.Recipe] = newText(view.Recipe)
		}
		list[i] = known[view.Recipe]
	}
	return list
}
