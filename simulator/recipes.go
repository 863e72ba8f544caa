// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
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

// mostPosted bounds what may be posted.
const mostPosted = 16 << 20

// addRecipes puts the recipes that a request carries in force and answers with
// all that are. What is wrong with them is answered as JSON that names the
// field, and changes nothing.
func addRecipes(w http.ResponseWriter, r *http.Request, s *scenario.Scenario, logger *zap.Logger, check func(recipe.List) error) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostPosted))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return sendError(w, http.StatusRequestEntityTooLarge, fmt.Errorf("more than %d bytes", tooLarge.Limit))
	}
	if err != nil {
		return caddyhttp.Error(http.StatusBadRequest, err)
	}
	list, err := recipe.Parse(data)
	if err == nil {
		err = check(list)
	}
	if err == nil {
		err = s.Add(r.Context(), list)
	}
	if err != nil {
		return sendError(w, http.StatusBadRequest, err)
	}
	logger.Info("recipes posted", zap.Int("recipes", len(list)))
	warnOfBodies(logger, list)
	return sendJSON(w, http.StatusCreated, s.Recipes())
}

// anyRecipe accepts what those who administer the server post.
func anyRecipe(recipe.List) error { return nil }

// refuseFiles keeps those who may post recipes to a site from reading the
// files of its server.
func refuseFiles(list recipe.List) error {
	for i, r := range list {
		for field := range r.BodyFiles() {
			err := errors.New("is for the configuration and Caddy's admin API only")
			return list.At(i, &recipe.FieldError{Field: field, Err: err})
		}
	}
	return nil
}

// warnOfBodies logs a warning for each outcome whose status has no body although
// the recipe has one.
func warnOfBodies(logger *zap.Logger, recipes recipe.List) {
	for _, r := range recipes {
		for i, stage := range r.Stages {
			for _, outcome := range stage.Outcomes {
				if r.HasSource() && !response.HasBody(outcome.Status) {
					logger.Warn("the body is not sent with this status",
						zap.String("route", r.Route), zap.Int("stage", i+1), zap.Int("status", outcome.Status))
				}
			}
		}
	}
}
