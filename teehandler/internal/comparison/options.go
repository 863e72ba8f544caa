// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package comparison compares, live, what shadows respond with what the primary
// does: the compare option of a tee, the counts that outlive a reload, and how
// they are shown.
package comparison

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/words"
)

// Options say which of the shadows' responses are compared with the primary's,
// and what counts as a difference.
type Options struct {
	// Header and trailer fields whose differences do not count, beside those
	// that are always ignored, like `Date`. Default: none.
	IgnoreHeaders []string `json:"ignore_headers,omitempty"`

	// Places in JSON or XML whose differences, and all below them, do not count,
	// like `$.items[*].id` or `$['odd name']`. Default: none.
	IgnoreJSON []string `json:"ignore_json,omitempty"`

	// Arrays whose order does not matter, as places in JSON. Default: none.
	Unordered []string `json:"unordered,omitempty"`

	// A header field without whose equality two responses are not compared, like
	// one with the version of what both systems depend on. Default: none.
	RequireEqual string `json:"require_equal,omitempty"`

	// The URL of a second old system, a twin of the primary, which gets the same
	// copies. What differs between it and the primary is noise. Default: none,
	// and then every difference counts.
	Noise string `json:"noise,omitempty"`

	// Where pairs that differ are recorded, with the options of `record`: those
	// of the primary below its directory in `old`, those of a shadow in `new`;
	// with more than one shadow in a directory for each. Default: nowhere.
	Save *record.Options `json:"save,omitempty"`

	// The share of the copies whose responses are compared. Default: 100.
	Percent *units.Percent `json:"percent,omitempty"`

	// How many bytes of a body are compared, as it is sent, up to 64MiB. Longer
	// ones are compared up to there. Default: `1MiB`.
	MaxBody *units.Size `json:"max_body,omitempty"`

	// Header and trailer fields whose values are neither shown nor saved.
	// `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie` are never
	// shown. Default: none.
	Redact []string `json:"redact,omitempty"`
}

const (
	defaultMaxBody = 1 << 20
	mostMaxBody    = 64 << 20
)

// ParseOption returns the options of a compare option, whose name is under the
// cursor. Syntax:
//
//	compare {
//		ignore_header <field>...
//		ignore_json   <path>...
//		unordered     <path>...
//		require_equal <field>
//		noise         <shadow-url>
//		save          <dir> { <options of record> }
//		percent       <percent>
//		max_body      <size>
//		redact        <field>...
//	}
//
// ignore_header, ignore_json, unordered and redact may be given more than once.
// The URL of noise is checked by parseURL.
func ParseOption(d *caddyfile.Dispenser, parseURL func(string) (string, error)) (*Options, error) {
	if err := words.Flag(d); err != nil {
		return nil, err
	}
	o := new(Options)
	err := words.Options{
		"ignore_header": words.List(&o.IgnoreHeaders, parseField),
		"ignore_json":   words.List(&o.IgnoreJSON, parsePath),
		"unordered":     words.List(&o.Unordered, parsePath),
		"require_equal": words.Value(&o.RequireEqual, parseField),
		"noise":         words.Value(&o.Noise, parseURL),
		"save": func(d *caddyfile.Dispenser) (err error) {
			o.Save, err = record.ParseOption(d)
			return err
		},
		"percent":  words.Optional(&o.Percent, units.ParsePercent),
		"max_body": words.Optional(&o.MaxBody, parseMaxBody),
		"redact":   words.List(&o.Redact, parseField),
	}.Block(d, "compare", "ignore_header", "ignore_json", "unordered", "redact")
	return o, err
}

// parseField reads the name of a header field.
func parseField(text string) (string, error) { return text, units.CheckField(text, "") }

// parsePath reads the path of a place in JSON.
func parsePath(text string) (string, error) {
	_, err := jsonpath.Parse(text)
	return text, err
}

func parseMaxBody(text string) (units.Size, error) {
	size, err := units.ParseSize(text)
	if err == nil {
		err = checkMaxBody(size)
	}
	return size, err
}

func checkMaxBody(size units.Size) error {
	switch {
	case size <= 0:
		return errors.New("must be greater than 0")
	case size > mostMaxBody:
		return fmt.Errorf("at most %d MiB of a body can be compared", mostMaxBody>>20)
	}
	return nil
}

// check returns the rules of the options, or what cannot work, naming the field.
func (o *Options) check() (*compare.Rules, error) {
	if o.MaxBody != nil {
		if err := checkMaxBody(*o.MaxBody); err != nil {
			return nil, fmt.Errorf("max_body: %v", err)
		}
	}
	for _, list := range []struct {
		name   string
		check  func(string) (string, error)
		values []string
	}{
		{"ignore_headers", parseField, o.IgnoreHeaders},
		{"ignore_json", parsePath, o.IgnoreJSON},
		{"unordered", parsePath, o.Unordered},
		{"redact", parseField, o.Redact},
	} {
		for i, value := range list.values {
			if _, err := list.check(value); err != nil {
				return nil, fmt.Errorf("%s[%d]: %v", list.name, i, err)
			}
		}
	}
	if o.RequireEqual != "" {
		if _, err := parseField(o.RequireEqual); err != nil {
			return nil, fmt.Errorf("require_equal: %v", err)
		}
	}
	return compare.NewRules(compare.Options{
		IgnoreHeaders: o.IgnoreHeaders, IgnoreJSON: o.IgnoreJSON, Unordered: o.Unordered,
		RequireEqual: o.RequireEqual, Redact: o.Redact,
	})
}

// maxBody returns how many bytes of a body are kept.
func (o *Options) maxBody() int {
	if o.MaxBody == nil {
		return defaultMaxBody
	}
	return int(*o.MaxBody)
}
