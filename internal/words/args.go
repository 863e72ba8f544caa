// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Arg reads the single argument of an option with parse. A wrong number of
// arguments and a bad value are errors that name the option and its line.
//
//	size, err := words.Arg(d, units.ParseSize)
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

// AddField returns the reader of an option that adds a header field.
func AddField(add func(name, value string)) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		name, value, err := Field(d)
		if err != nil {
			return err
		}
		add(name, value)
		return nil
	}
}

// Files returns the reader of an option with one argument or more, each the name
// of a file or directory that is read at load.
func Files(to *[]string) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) error {
		names := d.RemainingArgs()
		if len(names) == 0 {
			return d.ArgErr()
		}
		for _, name := range names {
			LookFor(d, name)
		}
		*to = append(*to, names...)
		return nil
	}
}

// File returns the reader of an option whose argument is the name of a file that
// is read at load.
func File(to *string) func(*caddyfile.Dispenser) error {
	return func(d *caddyfile.Dispenser) (err error) {
		if *to, err = Arg(d, Plain); err == nil {
			LookFor(d, *to)
		}
		return err
	}
}

// LookFor warns of a file that is not there, with the line that names it, which
// Caddy's JSON does not have. It is no error yet: who adapts or reloads may be in
// another directory, or on another machine, than who loads.
func LookFor(d *caddyfile.Dispenser, name string) {
	path, err := caddy.NewReplacer().ReplaceOrErr(name, true, true)
	if err != nil {
		return // loading says so
	}
	if _, err = os.Stat(path); err != nil {
		caddy.Log().Named("caddyfile").Warn(d.WrapErr(units.LookedIn(err, path)).Error())
	}
}
