// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddyfile

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// options reads a block with one option of each kind.
func options(text string) error {
	d := caddyfile.NewTestDispenser(text)
	d.Next()
	var once Once
	for d.NextBlock(0) {
		if err := once.Check(d, "header"); err != nil {
			return err
		}
		var err error
		switch d.Val() {
		case "size":
			_, err = Arg(d, units.ParseSize)
		case "every":
			_, err = Arg(d, ParseDuration)
		case "name":
			_, err = Text(d)
		case "header":
			_, _, err = Field(d)
		case "on":
			err = Flag(d)
		default:
			err = Unrecognized(d, "thing")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOptions(t *testing.T) {
	good := "thing {\nsize 1MiB\nevery 7d\nname x\nheader A 1\nheader A 2\non\n}"
	if err := options(good); err != nil {
		t.Errorf("%s: %v", good, err)
	}
	for text, want := range map[string]string{
		"thing {\nsize big\n}":              "parsing size: 'big' is not a size",
		"thing {\nsize\n}":                  "wrong argument count",
		"thing {\nsize 1 2\n}":              "wrong argument count",
		"thing {\nevery 5 sec\n}":           "wrong argument count",
		"thing {\nevery soon\n}":            "parsing every",
		"thing {\nname a\nname b\n}":        "name already specified",
		"thing {\nheader A:b 1\n}":          "'A:b' is not a header field name",
		"thing {\nheader A \"1\n2\"\n}":     "the value of A has a character",
		"thing {\non off\n}":                "wrong argument count",
		"thing {\nnaem x\n}":                "unrecognized thing option 'naem'",
		"thing {\nname x\n\nsize potato\n}": "Testfile:4",
	} {
		err := options(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}
