// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
)

// repeatable are the options of a recipe that may be given more than once.
var repeatable = []string{"header", "stage"}

// parseOption reads an option of a recipe.
func parseOption(d *caddyfile.Dispenser, r *recipe.Recipe) (err error) {
	switch d.Val() {
	case "origin":
		r.Origin, err = words.Text(d)
	case "body":
		r.Body, err = parseBody(d)
	case "body_file":
		r.BodyFile, err = words.Text(d)
	case "random_content":
		var sizes recipe.SizeRange
		sizes, err = words.Arg(d, recipe.ParseSizeRange)
		r.RandomContent = &sizes
	case "header":
		err = parseHeader(d, &r.Headers)
	case "stage":
		err = parseStage(d, r)
	default:
		return words.Unrecognized(d, "simulator")
	}
	return err
}

func parseBody(d *caddyfile.Dispenser) (*string, error) {
	text, err := words.Text(d)
	return &text, err
}

func parseHeader(d *caddyfile.Dispenser, headers *recipe.Headers) error {
	name, value, err := words.Field(d)
	if err != nil {
		return err
	}
	headers.Add(name, value)
	return nil
}

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
	r.Stages = append(r.Stages, stage)
	return nil
}
