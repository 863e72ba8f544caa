// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

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
	var once words.Once
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := once.Check(d, "header"); err != nil {
			return err
		}
		if err := parseStageOption(d, &stage); err != nil {
			return err
		}
	}
	if err := stage.Validate(); err != nil {
		return d.Errf("parsing stage: %v", err)
	}
	r.Stages = append(r.Stages, stage)
	return nil
}

func parseStageOption(d *caddyfile.Dispenser, stage *recipe.Stage) (err error) {
	switch d.Val() {
	case "percent":
		stage.Percent, err = pointer(words.Arg(d, units.ParsePercent))
	case "fault":
		stage.Fault, err = pointer(joined(d, 1, 2, recipe.ParseFault))
	case "bandwidth":
		stage.Bandwidth, err = words.Arg(d, recipe.ParseBandwidth)
	case "dribble":
		stage.Dribble, err = pointer(joined(d, 2, 2, recipe.ParseDribble))
	case "ramp":
		stage.Ramp, err = true, words.Flag(d)
	case "body":
		stage.Body, err = pointer(words.Text(d))
	case "header":
		err = parseHeader(d, &stage.Headers)
	default:
		return words.Unrecognized(d, "stage")
	}
	return err
}

// joined reads several arguments as the text that JSON has for them.
func joined[T any](d *caddyfile.Dispenser, least, most int, parse func(string) (T, error)) (value T, err error) {
	option := d.Val()
	args := d.RemainingArgs()
	if len(args) < least || len(args) > most {
		return value, d.ArgErr()
	}
	if value, err = parse(strings.Join(args, " ")); err != nil {
		return value, d.Errf("parsing %s: %v", option, err)
	}
	return value, nil
}
