// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	words "github.com/caddy-rehearsal/rehearsal/caddyfile"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Options say where requests are recorded and how their files are written.
type Options = recorder.Options

// ParseOption returns the options of a record option, whose name is under the
// cursor. Syntax:
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
func ParseOption(d *caddyfile.Dispenser) (*Options, error) {
	dir, err := words.Text(d)
	if err != nil {
		return nil, err
	}
	o := &Options{Dir: dir}
	if _, err := checkedDir(o.Dir); err != nil {
		return nil, d.WrapErr(err)
	}
	var once words.Once
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := once.Check(d, "keep", "redact"); err != nil {
			return nil, err
		}
		if err := parseOption(d, o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// checkedDir returns the absolute path of a directory if files can be made in it.
func checkedDir(dir string) (string, error) {
	dir, err := caddy.NewReplacer().ReplaceOrErr(dir, true, true)
	if err != nil {
		return "", fmt.Errorf("record: %v", err)
	}
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return "", fmt.Errorf("record: %v", err)
		}
	}
	if err := recorder.CheckDir(dir); err != nil {
		return "", fmt.Errorf("record: %v", err)
	}
	return dir, nil
}

func parseOption(d *caddyfile.Dispenser, o *Options) (err error) {
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
		o.RotateEvery, err = words.Arg(d, positive(parseDuration))
	case "keep":
		var rule recorder.Keep
		rule, err = words.Arg(d, recorder.ParseKeep)
		o.Keep = append(o.Keep, rule)
	case "flush_every":
		o.FlushEvery, err = words.Arg(d, positive(parseDuration))
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
func positive[T units.Size | recorder.Duration](parse func(string) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) {
		value, err := parse(text)
		if err == nil && value <= 0 {
			err = fmt.Errorf("must be greater than 0, is '%s'", text)
		}
		return value, err
	}
}

func parseDuration(text string) (recorder.Duration, error) {
	duration, err := words.ParseDuration(text)
	return recorder.Duration(duration), err
}
