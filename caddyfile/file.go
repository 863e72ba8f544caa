// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddyfile

import (
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

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
