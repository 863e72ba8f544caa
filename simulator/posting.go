// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

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
		if r.BodyFile != "" {
			err := errors.New("is for the configuration and Caddy's admin API only")
			return list.At(i, &recipe.FieldError{Field: "body_file", Err: err})
		}
	}
	return nil
}
