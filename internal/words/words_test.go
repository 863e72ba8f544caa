// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// thing is what a block with one option of each kind is read into.
type thing struct {
	size   units.Size
	every  caddy.Duration
	name   string
	share  *units.Percent
	header []string
	on     bool
	words  string
	pair   *string
	list   []units.Size
}

func (th *thing) read(text string) error {
	d := caddyfile.NewTestDispenser(text)
	d.Next()
	return Options{
		"size":  Value(&th.size, units.ParseSize),
		"every": Value(&th.every, ParseDuration),
		"name":  Value(&th.name, Plain),
		"share": Optional(&th.share, units.ParsePercent),
		"on":    On(&th.on),
		"words": Joined(&th.words, 1, 2, Plain),
		"pair":  OptionalJoined(&th.pair, 2, 2, Plain),
		"list":  List(&th.list, Positive(units.ParseSize)),
		"header": func(d *caddyfile.Dispenser) error {
			name, value, err := Field(d)
			th.header = append(th.header, name+": "+value)
			return err
		},
	}.Block(d, "thing", "header", "list")
}

func TestOptions(t *testing.T) {
	var got thing
	good := "thing {\nsize 1MiB\nevery 7d\nname x\nshare 0\nheader A 1\nheader A 2\non\nwords a b\npair c d\nlist 1 2\nlist 3\n}"
	if err := got.read(good); err != nil {
		t.Fatalf("%s: %v", good, err)
	}
	pair := "c d"
	want := thing{1 << 20, caddy.Duration(7 * 24 * time.Hour), "x", new(units.Percent), []string{"A: 1", "A: 2"}, true, "a b", &pair, []units.Size{1, 2, 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for text, want := range map[string]string{
		"thing {\nsize big\n}":              "parsing size: 'big' is not a size",
		"thing {\nshare 101\n}":             "parsing share: '101' is not a percentage",
		"thing {\nsize\n}":                  "wrong argument count",
		"thing {\nsize 1 2\n}":              "wrong argument count",
		"thing {\nevery 5 sec\n}":           "wrong argument count",
		"thing {\nevery soon\n}":            "parsing every",
		"thing {\nname a\nname b\n}":        "name already specified",
		"thing {\nheader A:b 1\n}":          "'A:b' is not a header field name",
		"thing {\nheader A \"1\n2\"\n}":     "the value of A has a character",
		"thing {\nwords\n}":                 "wrong argument count",
		"thing {\npair a\n}":                "wrong argument count",
		"thing {\nlist\n}":                  "wrong argument count",
		"thing {\nlist 5 0\n}":              "parsing list: must be greater than 0, is '0'",
		"thing {\non off\n}":                "wrong argument count",
		"thing {\nnaem x\n}":                "unrecognized thing option 'naem': expected one of every, header, list, name, on, pair, share, size, words",
		"thing {\nname x\n\nsize potato\n}": "Testfile:4",
	} {
		err := new(thing).read(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}
