// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"golang.org/x/sync/semaphore"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// capacity bounds the memory that the recipes of a scenario take, in bytes.
var capacity int64 = recipe.LargestSize

// filling bounds what all recipes that are just being posted take besides.
var filling = semaphore.NewWeighted(recipe.LargestSize)

// shareOf returns how much of filling recipes need.
func shareOf(list recipe.List) (size int64) {
	for i := range list {
		size += list[i].Size()
	}
	return min(size, recipe.LargestSize)
}

// size returns the memory that a route takes. Files that are read for each
// request take none, nor does random content, which all share; a body is part
// of its recipe's size.
func (r *route) size() int64 {
	c := r.content.Load()
	if r.recipe.RandomContent != nil || r.recipe.Body != nil {
		return r.fixedSize
	}
	return r.fixedSize + c.inMemory()
}

// errTooLarge returns the error of a route that does not fit.
func (r *route) errTooLarge() error {
	field := r.recipe.LargestField()
	if files := r.fixedSize - r.recipe.Size(); files > r.size()/2 {
		field = r.largestFile()
	}
	return &recipe.FieldError{Field: field, Err: recipe.ErrTooLarge}
}

// largestFile returns the field of the outcome whose file takes most memory.
func (r *route) largestFile() (field string) {
	most := int64(-1)
	for i := range r.recipe.Stages {
		for j, outcome := range r.recipe.Stages[i].Outcomes {
			if outcome.BodyFile != "" && r.bodies[i][j].inMemory() > most {
				field, most = r.recipe.OutcomeField(i, j, "body_file"), r.bodies[i][j].inMemory()
			}
		}
	}
	return field
}

// free returns what is left of the capacity beside the routes of a table,
// except for those that are replaced.
func (t *table) free(added []*route) int64 {
	replaced := make(map[string]bool, len(added))
	for _, r := range added {
		replaced[r.recipe.Route] = true
	}
	free := capacity
	for _, r := range t.routes {
		if !replaced[r.recipe.Route] {
			free -= r.size()
		}
	}
	return free
}

// checkCapacity refuses routes that do not fit beside those that stay.
func (t *table) checkCapacity(list recipe.List, added []*route) error {
	free := t.free(added)
	for i, r := range added {
		if free -= r.size(); free < 0 {
			return list.At(i, r.errTooLarge())
		}
	}
	return nil
}
