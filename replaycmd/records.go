// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/source"
)

// records are the records that a command is about.
type records struct {
	source.Source
	progress func() (done, size int64) // nil if that is not known
	url      *source.URL               // nil unless they come from one
}

// records opens what the arguments name and leaves out what isn't selected.
func (s *selection) open(ctx context.Context, args []string, stdin io.Reader, loop bool, note func(error)) (*records, error) {
	if source.IsURL(args[0]) {
		u, err := source.NewURL(args[0])
		if err != nil {
			return nil, err
		}
		return &records{Source: u, url: u}, nil
	}
	names, err := source.Expand(args, note)
	if err != nil {
		return nil, err
	}
	if slices.Contains(names, source.Stdin) {
		stdin = source.Interruptible(ctx, stdin)
	}
	r := new(records)
	begin := func() (source.Source, error) {
		merge, err := source.Open(names, stdin, note)
		if err != nil {
			return nil, err
		}
		note = func(error) {} // another round has the same to say
		if !loop {
			r.progress = merge.Progress
		}
		return s.filter(merge), nil
	}
	if loop {
		r.Source, err = source.NewLoop(begin)
	} else {
		r.Source, err = begin()
	}
	return r, err
}

func (s *selection) filter(from source.Source) source.Source {
	return &source.Filter{
		Source: from, Methods: s.methods, Paths: s.paths, IDs: s.ids, Since: s.since, Until: s.until, Percent: s.percent,
	}
}

// each calls f for the records, as many as are asked for.
func (s *selection) each(from source.Source, f func(*recording.Request) error) error {
	for n := int64(0); s.requests == 0 || n < s.requests; n++ {
		r, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// peeked gives a record that was taken before its source goes on.
type peeked struct {
	source.Source
	first *recording.Request
}

func (p *peeked) Next() (*recording.Request, error) {
	if first := p.first; first != nil {
		p.first = nil
		return first, nil
	}
	return p.Source.Next()
}

// timed says whether the records have times, judging by the first.
func (r *records) timed() (bool, error) {
	first, err := r.Source.Next()
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.Source = &peeked{r.Source, first}
	return first.TimeNS != 0, nil
}
