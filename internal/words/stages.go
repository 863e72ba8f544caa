// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Stage returns the reader of the option `stage`, which adds a stage that was
// checked:
//
//	stage <at> <status> [<latency>] { <words of an outcome> }
//	stage <at> {
//	    outcome <status> [<latency>] { <words of an outcome> }
//	}
//
// The words of an outcome are:
//
//	percent   <share>
//	first     <n> [by client_ip|uri|header <field>|cookie <name>]
//	fault     reset|empty|malformed|garbage|hang [<percent>]
//	fault     cut [<share of the body>]
//	bandwidth <size>/s
//	dribble   <chunks> <duration>
//	chunked
//	ramp
//	body      <text>
//	body_file <path>
//	header    <field> <value>
func Stage(to *[]recipe.Stage) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		stage, err := parseStage(d)
		if err != nil {
			return err
		}
		if err := stage.Validate(); err != nil {
			return d.Errf("parsing stage: %v", err)
		}
		*to = append(*to, stage)
		return nil
	}
}

// parseStage reads a stage. One with a status is its only outcome.
func parseStage(d *caddyfile.Dispenser) (stage recipe.Stage, err error) {
	args := d.RemainingArgs()
	if len(args) < 1 || len(args) > 3 {
		return stage, d.ArgErr()
	}
	if stage.At, err = recipe.ParseOffset(args[0]); err != nil {
		return stage, d.Errf("parsing stage: at: %v", err)
	}
	if len(args) == 1 {
		return stage, parseOutcomes(d, &stage)
	}
	outcome, err := parseHead(d, "stage", args[1:])
	if err != nil {
		return stage, err
	}
	stage.Outcomes = []recipe.Outcome{outcome}
	options := outcomeWords(&stage.Outcomes[0])
	options["outcome"] = func(d *caddyfile.Dispenser) error {
		return d.Errf("parsing stage: a stage with a status has no outcomes: write 'stage %s {' and the status as an outcome", args[0])
	}
	return stage, options.Block(d, "stage", repeatable...)
}

// parseOutcomes reads the block of a stage without a status.
func parseOutcomes(d *caddyfile.Dispenser, stage *recipe.Stage) error {
	err := Options{
		"outcome": func(d *caddyfile.Dispenser) error {
			args := d.RemainingArgs()
			if len(args) < 1 || len(args) > 2 {
				return d.ArgErr()
			}
			outcome, err := parseHead(d, "outcome", args)
			if err != nil {
				return err
			}
			if err := outcomeWords(&outcome).Block(d, "outcome", repeatable...); err != nil {
				return err
			}
			if err := outcome.Validate(); err != nil {
				return d.Errf("parsing outcome: %v", err)
			}
			stage.Outcomes = append(stage.Outcomes, outcome)
			return nil
		},
	}.Block(d, "stage", "outcome")
	if err == nil && len(stage.Outcomes) == 0 {
		err = d.Errf("parsing stage: expected a status, or a block of outcomes")
	}
	return err
}

// parseHead reads a status and a latency, which may be missing.
func parseHead(d *caddyfile.Dispenser, option string, args []string) (outcome recipe.Outcome, err error) {
	outcome.Status = http.StatusOK
	if outcome.Status, err = strconv.Atoi(args[0]); err != nil {
		return outcome, d.Errf("parsing %s: status: '%s' is not a number", option, args[0])
	}
	if len(args) == 2 {
		if outcome.Latency, err = latency.Parse(args[1]); err != nil {
			return outcome, d.Errf("parsing %s: latency: %v", option, err)
		}
	}
	return outcome, nil
}

// MessageStage returns the reader of the option `stage` of answers to messages, which
// adds a stage that was checked:
//
//	stage <at> [<latency>] { <words of an outcome> }
//	stage <at> {
//	    outcome [<latency>] { <words of an outcome> }
//	}
//
// The words of an outcome are:
//
//	percent   <share>
//	first     <n> [by header <property>]
//	fault     drop|duplicate|poison [<percent>]
//	fault     late <duration> [<percent>]
//	ramp
//	body      <text>
//	body_file <path>
//	header    <property> <value>
func MessageStage(to *recipe.MessageStages) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		stage, err := parseMessageStage(d)
		if err != nil {
			return err
		}
		if err := (recipe.MessageStages{stage}).Validate(); err != nil {
			return d.Errf("parsing stage: %v", err)
		}
		*to = append(*to, stage)
		return nil
	}
}

func parseMessageStage(d *caddyfile.Dispenser) (stage recipe.Stage, err error) {
	args := d.RemainingArgs()
	if len(args) < 1 || len(args) > 2 {
		if len(args) > 2 {
			return stage, d.Errf("parsing stage: expected a time and a latency: %v", recipe.ErrNoStatus)
		}
		return stage, d.ArgErr()
	}
	if stage.At, err = recipe.ParseOffset(args[0]); err != nil {
		return stage, d.Errf("parsing stage: at: %v", err)
	}
	single, alone := recipe.Outcome{}, len(args) == 2
	if single.Latency, err = messageLatency(d, "stage", args[1:]); err != nil {
		return stage, err
	}
	options := messageWords(&single)
	for word, read := range options {
		options[word] = func(d *caddyfile.Dispenser) error {
			alone = true
			return read(d)
		}
	}
	options["outcome"] = func(d *caddyfile.Dispenser) (err error) {
		var outcome recipe.Outcome
		if outcome.Latency, err = messageLatency(d, "outcome", d.RemainingArgs()); err != nil {
			return err
		}
		if err := messageWords(&outcome).Block(d, "outcome", repeatable...); err != nil {
			return err
		}
		stage.Outcomes = append(stage.Outcomes, outcome)
		return nil
	}
	if err := options.Block(d, "stage", append(repeatable, "outcome")...); err != nil {
		return stage, err
	}
	if len(stage.Outcomes) == 0 {
		stage.Outcomes = []recipe.Outcome{single}
	} else if alone {
		return stage, d.Errf("parsing stage: a stage with outcomes has nothing beside: write latency and words into an outcome")
	}
	return stage, nil
}

// messageLatency reads the latency that may be there, and refuses a status.
func messageLatency(d *caddyfile.Dispenser, option string, args []string) (l latency.Latency, err error) {
	if len(args) == 0 {
		return l, nil
	}
	if _, err := strconv.Atoi(args[0]); err == nil && args[0] != "0" {
		return l, d.Errf("parsing %s: '%s': %v", option, args[0], recipe.ErrNoStatus)
	}
	if len(args) > 1 {
		return l, d.ArgErr()
	}
	if l, err = latency.Parse(args[0]); err != nil {
		return l, d.Errf("parsing %s: latency: %v", option, err)
	}
	return l, nil
}

// messageWords returns the words of an outcome for messages.
func messageWords(o *recipe.Outcome) Options {
	all := outcomeWords(o)
	for _, word := range recipe.OnlyHTTP {
		delete(all, word)
	}
	all["fault"] = OptionalJoined(&o.Fault, 1, 3, recipe.ParseMessageFault)
	return all
}

// repeatable are the words of an outcome that may be given more than once.
var repeatable = []string{"header"}

// outcomeWords returns the words of an outcome.
func outcomeWords(o *recipe.Outcome) Options {
	return Options{
		"percent":   Optional(&o.Percent, units.ParsePercent),
		"first":     OptionalJoined(&o.First, 1, 4, recipe.ParseFirst),
		"fault":     OptionalJoined(&o.Fault, 1, 2, recipe.ParseFault),
		"bandwidth": Value(&o.Bandwidth, recipe.ParseBandwidth),
		"dribble":   OptionalJoined(&o.Dribble, 2, 2, recipe.ParseDribble),
		"chunked":   On(&o.Chunked),
		"ramp":      On(&o.Ramp),
		"body":      Optional(&o.Body, Plain),
		"body_file": File(&o.BodyFile),
		"header":    AddField(o.Headers.Add),
	}
}
