// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"golang.org/x/sync/semaphore"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// mostHeld bounds the memory that the contents of a scenario take.
var mostHeld int64 = recipe.LargestContents

// filling bounds what all recipes that are just being posted take besides.
var filling = semaphore.NewWeighted(recipe.LargestContents)

// shareOf gives how much of filling recipes need.
func shareOf(list recipe.List) (size int64) {
	for i := range list {
		size += list[i].BodySize()
	}
	return min(size, recipe.LargestContents)
}

// held gives the memory that the contents of a route take. Files that are read
// for each request take none, nor does random content, which all share.
func (r *route) held() int64 {
	c := r.content.Load()
	if c.File != "" || r.recipe.RandomContent != nil {
		return r.bodySize
	}
	return r.bodySize + c.Size
}

// noRoom says that the contents of a route are too much.
func (r *route) noRoom() error {
	return &recipe.FieldError{Field: r.recipe.ContentField(), Err: recipe.ErrContents}
}

// room gives what contents may still take beside those of a table's routes,
// except for the ones that are replaced.
func (t *table) room(added []*route) int64 {
	replaced := make(map[string]bool, len(added))
	for _, r := range added {
		replaced[r.recipe.Route] = true
	}
	room := mostHeld
	for _, r := range t.routes {
		if !replaced[r.recipe.Route] {
			room -= r.held()
		}
	}
	return room
}

// checkRoom refuses routes whose contents do not fit beside those of the routes
// that stay.
func (t *table) checkRoom(list recipe.List, added []*route) error {
	room := t.room(added)
	for i, r := range added {
		if room -= r.held(); room < 0 {
			return list.At(i, r.noRoom())
		}
	}
	return nil
}
