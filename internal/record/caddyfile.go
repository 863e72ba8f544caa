// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// UnmarshalCaddyfile reads the option, whose name is under the cursor. Syntax:
//
//	record <dir> {
//		prefix       <name>
//		compression  lz4 [<level>] | none
//		rotate_size  <size>
//		rotate_every <duration>
//		keep         <number> | <duration> | <size>
//		flush_every  <duration>
//		max_body     <size>
//		memory       <size>
//		on_overflow  block | drop
//		redact       <field>...
//		mode         <octal>
//	}
//
// keep and redact may be given more than once. A directory in which no files
// can be made is refused here already, where its line is known.
func (o *Options) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	dir, err := words.Text(d)
	if err != nil {
		return err
	}
	o.Dir = dir
	if _, err := o.checkedDir(); err != nil {
		return d.WrapErr(err)
	}
	var once words.Once
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := once.Check(d, "keep", "redact"); err != nil {
			return err
		}
		if err := o.option(d); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) option(d *caddyfile.Dispenser) (err error) {
	switch d.Val() {
	case "prefix":
		o.Prefix, err = words.Arg(d, recorder.ParsePrefix)
	case "compression":
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		if o.Compression, err = recorder.ParseCompression(strings.Join(args, " ")); err != nil {
			return d.Errf("parsing compression: %v", err)
		}
	case "rotate_size":
		o.RotateSize, err = words.Arg(d, positive(units.ParseSize))
	case "rotate_every":
		o.RotateEvery, err = words.Arg(d, positive(words.ParseDuration))
	case "keep":
		var rule recorder.Keep
		rule, err = words.Arg(d, recorder.ParseKeep)
		o.Keep = append(o.Keep, rule)
	case "flush_every":
		o.FlushEvery, err = words.Arg(d, positive(words.ParseDuration))
	case "max_body":
		o.MaxBody, err = words.Arg(d, positive(units.ParseSize))
		if err == nil && o.MaxBody > recorder.MaxBody {
			return d.Errf("parsing max_body: at most %d MiB of a body can be recorded", recorder.MaxBody>>20)
		}
	case "memory":
		o.Memory, err = words.Arg(d, positive(units.ParseSize))
	case "on_overflow":
		o.OnOverflow, err = words.Arg(d, recorder.ParseOverflow)
	case "redact":
		fields := d.RemainingArgs()
		if len(fields) == 0 {
			return d.ArgErr()
		}
		for _, field := range fields {
			if err := units.CheckField(field, ""); err != nil {
				return d.Errf("parsing redact: %v", err)
			}
		}
		o.Redact = append(o.Redact, fields...)
	case "mode":
		o.Mode, err = words.Arg(d, recorder.ParseMode)
	default:
		return words.Unrecognized(d, "record")
	}
	return err
}

// positive refuses 0, which in the options means that nothing is set.
func positive[T units.Size | caddy.Duration](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) {
		value, err := parse(text)
		if err == nil && value <= 0 {
			err = fmt.Errorf("'%s' is not more than 0", text)
		}
		return value, err
	}
}
