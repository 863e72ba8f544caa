// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// repeatable are the options of a recipe that may be given more than once.
var repeatable = []string{"header", "stage"}

// parseOption reads an option of a recipe; directive is what holds it.
func parseOption(d *caddyfile.Dispenser, directive string, r *recipe.Recipe) (err error) {
	switch d.Val() {
	case "origin":
		r.Origin, err = words.Text(d)
	case "body":
		r.Body, err = pointer(words.Text(d))
	case "body_file":
		r.BodyFile, err = words.Text(d)
	case "random_content":
		r.RandomContent, err = pointer(words.Arg(d, recipe.ParseSizeRange))
	case "header":
		err = parseHeader(d, &r.Headers)
	case "stage":
		err = parseStage(d, r)
	case "loop":
		r.Loop, err = parseLoop(d)
	case "start":
		r.Start, err = parseStart(d)
	case "seed":
		r.Seed, err = parseSeed(d)
	default:
		return words.Unrecognized(d, directive)
	}
	return err
}

// pointer makes a value one that is there.
func pointer[T any](value T, err error) (*T, error) { return &value, err }

func parseHeader(d *caddyfile.Dispenser, headers *recipe.Headers) error {
	name, value, err := words.Field(d)
	if err != nil {
		return err
	}
	headers.Add(name, value)
	return nil
}

func parseLoop(d *caddyfile.Dispenser) (*recipe.Loop, error) {
	if d.CountRemainingArgs() == 0 {
		return new(recipe.Loop), nil
	}
	period, err := words.Arg(d, recipe.ParsePeriod)
	return &recipe.Loop{Period: period}, err
}

func parseStart(d *caddyfile.Dispenser) (*time.Time, error) {
	return pointer(words.Arg(d, recipe.ParseStart))
}

func parseSeed(d *caddyfile.Dispenser) (*uint64, error) {
	return pointer(words.Arg(d, recipe.ParseSeed))
}
