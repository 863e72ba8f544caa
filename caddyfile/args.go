// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddyfile

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Arg reads the single argument of an option with parse. A wrong number of
// arguments and a bad value are errors that name the option and its line.
//
//	size, err := Arg(d, ParseSize)
func Arg[T any](d *caddyfile.Dispenser, parse func(string) (T, error)) (T, error) {
	var none T
	option := d.Val()
	var text string
	if !d.AllArgs(&text) {
		return none, d.ArgErr()
	}
	value, err := parse(text)
	if err != nil {
		return none, d.Errf("parsing %s: %v", option, err)
	}
	return value, nil
}

// Text reads the single argument of an option as it is.
func Text(d *caddyfile.Dispenser) (string, error) {
	return Arg(d, func(text string) (string, error) { return text, nil })
}

// Flag checks that an option that is on by being there has no argument.
func Flag(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	return nil
}

// ParseDuration returns a duration as units.ParseDuration does, of the type
// that options have in JSON.
func ParseDuration(text string) (caddy.Duration, error) {
	d, err := units.ParseDuration(text)
	return caddy.Duration(d), err
}

// Field reads the two arguments of an option that sets a header field.
func Field(d *caddyfile.Dispenser) (name, value string, err error) {
	option := d.Val()
	if !d.AllArgs(&name, &value) {
		return "", "", d.ArgErr()
	}
	if err := units.CheckField(name, value); err != nil {
		return "", "", d.Errf("parsing %s: %v", option, err)
	}
	return name, value, nil
}

// Once keeps account of the options of a block that may be given only once.
//
//	var once Once
//	for d.NextBlock(0) {
//		if err := once.Check(d, "header", "stage"); err != nil {
type Once map[string]bool

// Check fails if the option under the cursor was there before, unless it is
// among the repeatable ones.
func (o *Once) Check(d *caddyfile.Dispenser, repeatable ...string) error {
	option := d.Val()
	if slices.Contains(repeatable, option) {
		return nil
	}
	if (*o)[option] {
		return d.Errf("%s already specified", option)
	}
	if *o == nil {
		*o = make(Once)
	}
	(*o)[option] = true
	return nil
}

// Unrecognized returns the error for an option that a directive does not know.
func Unrecognized(d *caddyfile.Dispenser, directive string) error {
	return d.Errf("unrecognized %s option '%s'", directive, d.Val())
}
