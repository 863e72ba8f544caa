// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage

import (
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

// texts keeps what was said of recipes as long as they run: some are large, and
// the page tells by the ID that nothing has changed.
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
