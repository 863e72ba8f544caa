// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// records are the records that a command is about.
type records struct {
	source.Source
	stop     context.CancelFunc        // ends reading, also where that waits
	progress func() (done, size int64) // nil if that is not known
	url      *source.URL               // nil unless they come from one
	filter   *source.Filter            // of the first round; nil for a URL
	round    func() int                // how often they have begun again
	files    []source.Input            // that are read
	latest   *source.Filter            // of this round
}

// open opens what the arguments name and leaves out what isn't selected.
func (s *selection) open(ctx context.Context, args []string, stdin io.Reader, loop bool, note func(error)) (*records, error) {
	if source.IsURL(args[0]) {
		u, err := source.NewURL(args[0])
		if err != nil {
			return nil, err
		}
		return &records{Source: u, url: u, stop: func() {}}, nil
	}
	ctx, stop := context.WithCancel(ctx)
	files, err := s.inputs(ctx, args, stdin, note)
	if err == nil && loop {
		err = checkLoop(files)
	}
	if err != nil {
		stop()
		return nil, err
	}
	r := &records{stop: stop, files: files}
	begin := func() (source.Source, error) {
		merge, err := source.Open(ctx, files, note)
		if err != nil {
			return nil, err
		}
		note = func(error) {} // another round has the same to say
		filter := s.filter(merge)
		r.latest = filter
		if r.filter == nil {
			r.filter = filter
		}
		if !loop {
			r.progress = merge.Progress
		}
		return filter, nil
	}
	r.round = func() int { return 0 }
	if loop {
		var l *source.Loop
		if l, err = source.NewLoop(begin); err == nil {
			r.Source, r.round = l, l.Round
		}
	} else {
		r.Source, err = begin()
	}
	if err != nil {
		stop()
		return nil, err
	}
	return r, nil
}

// checkLoop refuses what can't be read again.
func checkLoop(files []source.Input) error {
	for _, file := range files {
		if file.Stream {
			return fmt.Errorf("--loop and --find-rate cannot read %s a second time: it is no file", file.Name)
		}
	}
	return nil
}

func (s *selection) filter(from source.Source) *source.Filter {
	f := &source.Filter{
		Source: from, Methods: s.methods, Paths: s.paths, IDs: s.ids, Since: s.since, Until: s.until, Percent: s.percent,
	}
	if s.percent != nil && s.assign != nil {
		f.Session = s.assign().Of
	}
	return f
}

// Close ends reading.
func (r *records) Close() error {
	r.stop()
	return r.Source.Close()
}

// number returns which one of its round the latest record is, of those that were
// chosen but for --percent, from 1.
func (r *records) number() int64 { return r.latest.Met() }

// missing returns an error if all was read and no record has one of the identifiers
// that are asked for.
func (r *records) missing() error {
	if r.filter == nil {
		return nil
	}
	if ids := r.filter.Missing(); len(ids) > 0 {
		return fmt.Errorf("no record has the identifier %s", strings.Join(ids, ", "))
	}
	return nil
}

// noteUntimed warns of the records that were left out because they have no time.
func (r *records) noteUntimed(note func(error)) {
	if r.filter != nil && r.filter.Untimed() > 0 {
		note(fmt.Errorf("%d records have no time: --since and --until leave them out", r.filter.Untimed()))
	}
}

// nothing returns why there is nothing that could be sent, with the flags that
// chose among the records.
func (r *records) nothing(done string, chosenBy []string) error {
	switch {
	case r.filter == nil || r.filter.Seen() == 0:
		return fmt.Errorf("nothing %s: there are no records", done)
	case len(chosenBy) == 0:
		return fmt.Errorf("nothing %s, of %d records", done, r.filter.Seen())
	}
	return fmt.Errorf("nothing %s: none of the %d records is chosen by %s", done, r.filter.Seen(), strings.Join(chosenBy, " and "))
}

var errInterrupted = errors.New("interrupted before the end")

// each calls f for the records, as many as are asked for.
func (s *selection) each(ctx context.Context, from source.Source, f func(*recording.Request) error) error {
	for n := int64(0); s.requests == 0 || n < s.requests; n++ {
		r, err := from.Next()
		switch {
		case ctx.Err() != nil:
			return errInterrupted
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// peeked is a source of which the first record was taken and comes again.
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

// timed reports whether the records have times, judging by the first.
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
