// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
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
		"header":         header(&r.Headers),
		"stage":          func(d *caddyfile.Dispenser) error { return parseStage(d, r) },
		"loop": func(d *caddyfile.Dispenser) (err error) {
			r.Loop, err = parseLoop(d)
			return err
		},
		"start": words.Optional(&r.Start, recipe.ParseStart),
		"seed":  words.Optional(&r.Seed, recipe.ParseSeed),
	}
}

// header returns the reader of an option that adds a header field.
func header(headers *recipe.Headers) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		name, value, err := words.Field(d)
		if err != nil {
			return err
		}
		headers.Add(name, value)
		return nil
	}
}

func parseLoop(d *caddyfile.Dispenser) (*recipe.Loop, error) {
	if d.CountRemainingArgs() == 0 {
		return new(recipe.Loop), nil
	}
	period, err := words.Arg(d, recipe.ParsePeriod)
	return &recipe.Loop{Period: period}, err
}

// parseStage reads a stage: when, what and how long, and a block of the rest.
func parseStage(d *caddyfile.Dispenser, r *recipe.Recipe) (err error) {
	args := d.RemainingArgs()
	if len(args) < 2 || len(args) > 3 {
		return d.ArgErr()
	}
	stage := recipe.Stage{Status: http.StatusOK}
	if stage.At, err = recipe.ParseOffset(args[0]); err != nil {
		return d.Errf("parsing stage: at: %v", err)
	}
	if stage.Status, err = strconv.Atoi(args[1]); err != nil {
		return d.Errf("parsing stage: status: '%s' is not a number", args[1])
	}
	if len(args) == 3 {
		if stage.Latency, err = latency.Parse(args[2]); err != nil {
			return d.Errf("parsing stage: latency: %v", err)
		}
	}
	err = words.Options{
		"percent":   words.Optional(&stage.Percent, units.ParsePercent),
		"fault":     words.OptionalJoined(&stage.Fault, 1, 2, recipe.ParseFault),
		"bandwidth": words.Value(&stage.Bandwidth, recipe.ParseBandwidth),
		"dribble":   words.OptionalJoined(&stage.Dribble, 2, 2, recipe.ParseDribble),
		"ramp":      words.On(&stage.Ramp),
		"body":      words.Optional(&stage.Body, words.Plain),
		"header":    header(&stage.Headers),
	}.Block(d, "stage", "header")
	if err != nil {
		return err
	}
	if err := stage.Validate(); err != nil {
		return d.Errf("parsing stage: %v", err)
	}
	r.Stages = append(r.Stages, stage)
	return nil
}
