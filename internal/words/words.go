// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package words holds what Rehearsal's directives share: where they stand
// in the order of directives, the words their options are written in, and those of
// stages and outcomes.
package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// Options are the options of a block by name, each with the function that
// reads it when the cursor stands on the name.
//
//	err := words.Options{
//		"name":    words.Value(&h.Name, words.Plain),
//		"percent": words.Optional(&h.Percent, units.ParsePercent),
//		"express": words.On(&h.Express),
//	}.Block(d, "blackhole", "header")
type Options map[string]func(*caddyfile.Dispenser) error

// Block reads the block of a directive or option. What is in it twice is an
// error unless it is among the repeatable ones; what is unknown is an error
// that lists the options.
func (o Options) Block(d *caddyfile.Dispenser, directive string, repeatable ...string) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		read, known := o[option]
		if !known {
			list := strings.Join(slices.Sorted(maps.Keys(o)), ", ")
			return d.Errf("unrecognized %s option '%s': expected one of %s", directive, option, list)
		}
		if seen[option] && !slices.Contains(repeatable, option) {
			return d.Errf("%s already specified", option)
		}
		seen[option] = true
		if err := read(d); err != nil {
			return err
		}
	}
	return nil
}

// Value returns the reader of an option with one argument, which parse makes
// the value of.
func Value[T any](to *T, parse func(string) (T, error)) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) (err error) {
		*to, err = Arg(d, parse)
		return err
	}
}

// Optional returns the reader of an option with one argument whose absence
// differs from every value.
func Optional[T any](to **T, parse func(string) (T, error)) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		value, err := Arg(d, parse)
		*to = &value
		return err
	}
}

// On returns the reader of an option that has no argument and is on by being
// there.
func On(to *bool) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		*to = true
		return Flag(d)
	}
}

// Plain returns an argument as it is, for Value and Optional.
func Plain(text string) (string, error) { return text, nil }

// Joined returns the reader of an option whose arguments, least to most of
// them, are the text that parse reads.
func Joined[T any](to *T, least, most int, parse func(string) (T, error)) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) (err error) {
		option, args := d.Val(), d.RemainingArgs()
		if len(args) < least || len(args) > most {
			return d.ArgErr()
		}
		if *to, err = parse(strings.Join(args, " ")); err != nil {
			return d.Errf("parsing %s: %v", option, err)
		}
		return nil
	}
}

// OptionalJoined returns the reader of Joined for an option whose absence
// differs from every value.
func OptionalJoined[T any](to **T, least, most int, parse func(string) (T, error)) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		value := new(T)
		err := Joined(value, least, most, parse)(d)
		*to = value
		return err
	}
}

// List returns the reader of an option with one argument or more, each of which
// parse reads and which are added to what is there.
func List[T any](to *[]T, parse func(string) (T, error)) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		option, args := d.Val(), d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		for _, arg := range args {
			value, err := parse(arg)
			if err != nil {
				return d.Errf("parsing %s: %v", option, err)
			}
			*to = append(*to, value)
		}
		return nil
	}
}

// Positive returns a parse function that refuses what is not greater than 0.
func Positive[T ~int | ~int64](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) {
		value, err := parse(text)
		if err == nil && value <= 0 {
			err = fmt.Errorf("must be greater than 0, is '%s'", text)
		}
		return value, err
	}
}

// The order is kept in one place, by name, so that it is the same whichever of
// the handlers a build contains. The tee wraps all that comes after it, so it
// stands where the last middleware ends; the two responders answer, so they
// stand where responders begin.
func init() {
	httpcaddyfile.RegisterDirectiveOrder("tee", httpcaddyfile.Before, "invoke")
	httpcaddyfile.RegisterDirectiveOrder("simulator", httpcaddyfile.Before, "respond")
	httpcaddyfile.RegisterDirectiveOrder("blackhole", httpcaddyfile.Before, "respond")
}
