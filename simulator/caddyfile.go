// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

func init() {
	httpcaddyfile.RegisterDirective("simulator", parseDirective)
}

// parseDirective is what a directive of a handler does, and warns of a file of
// recipes that Caddy takes for a matcher.
func parseDirective(helper httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	if !helper.Next() {
		return nil, helper.ArgErr()
	}
	if helper.NextArg() {
		if first := helper.Val(); strings.HasPrefix(first, "/") && strings.HasSuffix(first, ".json") {
			caddy.Log().Named("http.handlers.simulator").Warn("this is a matcher of paths, not a file of recipes: for the file write 'recipe "+first+"' into the block",
				zap.String("matcher", first), zap.String("file", helper.File()), zap.Int("line", helper.Line()))
		}
	}
	helper.Reset()
	helper.Next()
	matchers, err := helper.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	handler, err := parseCaddyfile(helper)
	if err != nil {
		return nil, err
	}
	return helper.NewRoute(matchers, handler), nil
}

// parseCaddyfile sets up the handler with a name of its own, so that directives
// that say the same are scenarios of their own.
func parseCaddyfile(helper httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h := new(Handler)
	if err := h.UnmarshalCaddyfile(helper.Dispenser); err != nil {
		return nil, err
	}
	if h.Name == "" {
		h.Name = nextName(helper.State)
	}
	return h, nil
}

// nextName counts the directives of a Caddyfile that give no name.
func nextName(state map[string]any) string {
	const key = "rehearsal.simulators"
	before, _ := state[key].(int)
	state[key] = before + 1
	if before == 0 {
		return "simulator"
	}
	return "simulator" + strconv.Itoa(before+1)
}

// UnmarshalCaddyfile sets up the handler from Caddyfile tokens. Syntax:
//
//	simulator [<matcher>] [<recipe-file>...] {
//	    recipe         <file>...
//	    mappings       <file-or-dir>...
//	    route          <pattern> { ... }
//	    origin         <url>
//	    body           <text>
//	    body_file      <path>
//	    random_content <size>[..<size>]
//	    header         <field> <value>
//	    stage          <at> <status> [<latency>] { ... }
//	    loop           [<period>]
//	    start          <RFC 3339 time>
//	    seed           <n>
//	    name           <name>
//	    on_miss        <upstream> { record <dir> { ... } }
//	    admin          [<prefix>]
//	    templates      on|off
//	    unsupported    fail|skip
//	    mappings_admin [<prefix>] { ... }
//	    express
//	}
//
// Package caddyfile/stages has the words of stages and outcomes.
//
// The options from origin to loop make a recipe: inside of route for its
// pattern, outside for all paths. start and seed are the recipe's inside of
// route; outside they are for all recipes. recipe, mappings, route,
// header and stage may be given more than once.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume directive name
	h.RecipeFiles = d.RemainingArgs()
	for _, name := range h.RecipeFiles {
		words.LookFor(d, name)
	}
	var all recipe.Recipe
	options := words.Options{
		"recipe":   words.Files(&h.RecipeFiles),
		"mappings": words.Files(&h.MappingFiles),
		"route":    h.parseRoute,
		"name":     words.Value(&h.Name, words.Plain),
		"admin":    h.parseAdmin,
		"on_miss":  h.parseOnMiss,

		"templates":      words.Value(&h.Templates, parseTemplates),
		"unsupported":    words.Value(&h.Unsupported, parseUnsupported),
		"mappings_admin": h.parseMappingsAdmin,
		"express":        words.On(&h.Express),
	}
	inline := false
	for option, read := range recipeOptions(&all) {
		options[option] = func(d *caddyfile.Dispenser) error {
			inline = true
			return read(d)
		}
	}
	options["start"] = words.Optional(&h.Start, recipe.ParseStart)
	options["seed"] = words.Optional(&h.Seed, recipe.ParseSeed)
	if err := options.Block(d, "simulator", append(repeatable, "recipe", "mappings", "route")...); err != nil {
		return err
	}
	if inline {
		if err := h.add(d, all); err != nil {
			return err
		}
	}
	if err := checkRoutes(h.Recipes); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

func (h *Handler) parseAdmin(d *caddyfile.Dispenser) error {
	h.Admin = defaultAdmin
	if d.NextArg() {
		h.Admin = d.Val()
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	if err := checkAdmin(h.Admin); err != nil {
		return d.Errf("parsing admin: %v", err)
	}
	return nil
}

func (h *Handler) parseRoute(d *caddyfile.Dispenser) error {
	var r recipe.Recipe
	if !d.AllArgs(&r.Route) {
		return d.ArgErr()
	}
	if err := recipeOptions(&r).Block(d, "route", repeatable...); err != nil {
		return err
	}
	return h.add(d, r)
}

// add checks a recipe, so that what is wrong has a line.
func (h *Handler) add(d *caddyfile.Dispenser, r recipe.Recipe) error {
	if err := r.Validate(); err != nil {
		return d.WrapErr(err)
	}
	h.Recipes = append(h.Recipes, r)
	return nil
}

// repeatable are the options of a recipe that may be given more than once.
var repeatable = []string{"header", "stage"}

// recipeOptions returns the options that make a recipe.
func recipeOptions(r *recipe.Recipe) words.Options {
	return words.Options{
		"origin":         words.Value(&r.Origin, words.Plain),
		"body":           words.Optional(&r.Body, words.Plain),
		"body_file":      words.File(&r.BodyFile),
		"random_content": words.Optional(&r.RandomContent, recipe.ParseSizeRange),
		"header":         words.AddField(r.Headers.Add),
		"stage":          words.Stage(&r.Stages),
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

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
