// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"os"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// load reads and checks all recipes of the configuration.
func (h *Handler) load() (recipe.List, error) {
	var all recipe.List
	for _, name := range h.RecipeFiles {
		list, err := readRecipes(name)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	for i, own := range h.Recipes {
		own.Stages = slices.Clone(own.Stages) // checking sorts them
		if err := own.Validate(); err != nil {
			return nil, h.Recipes.At(i, err)
		}
		all = append(all, own)
	}
	for i := range all {
		if all[i].Start == nil {
			all[i].Start = h.Start
		}
	}
	if err := checkRoutes(all); err != nil {
		return nil, err
	}
	if i, err := all.CheckSize(); err != nil {
		return nil, fmt.Errorf("route %s: %w", all[i].Route, err)
	}
	return all, nil
}

// checkRoutes refuses a configuration that has two answers to the same request.
func checkRoutes(all recipe.List) error {
	taken := make(map[string]bool, len(all))
	for _, r := range all {
		if taken[r.Route] {
			return fmt.Errorf("route %s has more than one recipe", r.Route)
		}
		taken[r.Route] = true
	}
	return nil
}

func readRecipes(name string) (recipe.List, error) {
	name, err := caddy.NewReplacer().ReplaceOrErr(name, true, true)
	if err != nil {
		return nil, fmt.Errorf("recipe file: %v", err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading recipes: %w", units.LookedIn(err, name))
	}
	list, err := recipe.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("recipe file %s: %w", name, err)
	}
	return list, nil
}
