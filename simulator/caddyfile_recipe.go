// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/caddyfile/stages"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// repeatable are the options of a recipe that may be given more than once.
var repeatable = []string{"header", "stage"}

// recipeOptions returns the options that make a recipe.
func recipeOptions(r *recipe.Recipe) words.Options {
	return words.Options{
		"origin":         words.Value(&r.Origin, words.Plain),
		"body":           words.Optional(&r.Body, words.Plain),
		"body_file":      words.Value(&r.BodyFile, words.Plain),
		"random_content": words.Optional(&r.RandomContent, recipe.ParseSizeRange),
		"header":         words.AddField(r.Headers.Add),
		"stage":          stages.Add(&r.Stages),
		"loop": func(d *caddyfile.Dispenser) (err error) {
			r.Loop, err = parseLoop(d)
			return err
		},
		"start": words.Optional(&r.Start, recipe.ParseStart),
		"seed":  words.Optional(&r.Seed, recipe.ParseSeed),
	}
}

func parseLoop(d *caddyfile.Dispenser) (*recipe.Loop, error) {
	if d.CountRemainingArgs() == 0 {
		return new(recipe.Loop), nil
	}
	period, err := words.Arg(d, recipe.ParsePeriod)
	return &recipe.Loop{Period: period}, err
}
