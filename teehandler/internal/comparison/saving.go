// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// saving records pairs that differ: a recording of the primary's responses and
// one of each shadow's.
type saving struct {
	old, new []*record.Recorder // by shadow
}

// openSaving opens the recordings of a tee's shadows, nil if it has none.
func openSaving(ctx caddy.Context, tee string, shadows []string, o *Options) (*saving, error) {
	if o.Save == nil {
		return nil, nil
	}
	if o.Save.Dir == "" {
		return nil, errors.New("save: a directory is needed")
	}
	if o.Save.OnOverflow == recorder.Block {
		return nil, errors.New("save: on_overflow block would have comparisons wait: a tee only knows drop")
	}
	s := new(saving)
	for i, shadow := range shadows {
		dir, name, folder := o.Save.Dir, tee, ""
		if len(shadows) > 1 {
			folder = fileName(shadow)
			if slices.ContainsFunc(shadows[:i], func(other string) bool { return fileName(other) == folder }) {
				folder = fmt.Sprintf("%s_%d", folder, i+1)
			}
			dir, name = filepath.Join(dir, folder), tee+"/"+folder
		}
		for _, side := range []struct {
			name string
			to   *[]*record.Recorder
		}{{"old", &s.old}, {"new", &s.new}} {
			options := *o.Save
			options.OnOverflow = recorder.Drop
			options.Dir = filepath.Join(dir, side.name)
			options.StoreFolder = path.Join(folder, side.name)
			options.Redact = slices.Concat(options.Redact, o.Redact)
			r, err := record.Open(ctx, "tee", name+"/"+side.name, &options)
			if err != nil {
				s.release()
				return nil, fmt.Errorf("save: %w", err)
			}
			*side.to = append(*side.to, r)
		}
	}
	return s, nil
}

// fileName returns a text with _ for what does not belong into a name of a
// folder.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, text)
}

func (s *saving) release() {
	for _, r := range slices.Concat(s.old, s.new) {
		_ = r.Release()
	}
}

// save records both sides of a pair, under one ID.
func (s *saving) save(system int, p *tally.Pair) {
	saveOne(s.old[system], p, p.Old)
	saveOne(s.new[system], p, p.New)
}

func saveOne(to *record.Recorder, p *tally.Pair, r *compare.Response) {
	ctx := context.Background()
	d := to.Begin()
	defer d.Release()
	d.ID = d.Text(p.ID)
	d.TimeNS = p.Old.Time.UnixNano()
	d.Method, d.URI = d.Text(string(p.Method)), d.Text(string(p.Target))
	d.Proto, d.Scheme = d.Text("HTTP/1.1"), d.Text("http")
	eachLine(p.Header, func(name, value string) {
		if name == "Host" {
			d.Host = d.Text(value)
		}
		d.AddField(name, value)
	})
	d.WriteBody(ctx, p.Body)
	d.Respond(r.Status)
	eachLine(r.Header, d.AddResponseField)
	d.WriteResponse(ctx, r.Body)
	if r.BodySize > int64(len(r.Body)) {
		d.Response.BodySize = uint64(r.BodySize)
	}
	eachLine(r.Trailer, d.AddResponseTrailer)
	if r.Error != "" {
		d.ResponseBrokeOff(errors.New(r.Error))
	}
	d.EndResponse(r.Duration)
	d.Add(ctx)
}

func eachLine(header []byte, add func(name, value string)) {
	for _, line := range headerLines(header) {
		name, value, _ := strings.Cut(line, ":")
		add(name, strings.TrimSpace(value))
	}
}
