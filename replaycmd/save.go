// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// savePairs has the pairs that differ saved in a folder: in the folders old and
// new of it, or, of several new systems, of one for each.
func (c *comparison) savePairs(folder string) error {
	taken := make(map[string]bool)
	for _, s := range c.systems {
		own := folder
		if len(c.systems) > 1 {
			own = filepath.Join(folder, folderOf(s.target, taken))
		}
		s.save = new(pairSaver)
		for i, side := range []string{"old", "new"} {
			dir := filepath.Join(own, side)
			if found, _ := inFolder(dir, func(error) {}); len(found) > 0 {
				return fmt.Errorf("--save: '%s' has recordings already: expected a folder without any", dir)
			}
			s.save.recorders[i] = recorder.New(recorder.Options{Dir: dir}.WithDefaults(), &s.save.counts[i])
		}
	}
	return nil
}

// pairSaver writes pairs as two recordings, old and new, of the same requests.
type pairSaver struct {
	recorders [2]*recorder.Recorder
	counts    [2]keptCounts
}

// add saves a pair.
func (s *pairSaver) add(p *tally.Pair) {
	record := recording.Request{
		ID: []byte(p.ID), Method: p.Method, URI: p.Target, Headers: p.Header, Body: p.Body, BodySize: uint64(len(p.Body)),
		TimeNS: p.Old.Time.UnixNano(),
	}
	for i, r := range []*compare.Response{p.Old, p.New} {
		record.Response = &recording.Response{
			Status: r.Status, Headers: r.Header, Body: r.Body, BodySize: uint64(max(r.BodySize, int64(len(r.Body)))),
			Trailers: r.Trailer, DurationNS: int64(r.Duration), Error: []byte(r.Error),
		}
		s.recorders[i].Record(context.Background(), &record)
	}
}

// close writes what was added. The error says what was lost.
func (s *pairSaver) close() error {
	var errs []error
	for i, r := range s.recorders {
		for r.Running() {
			r.Close()
		}
		if err := s.counts[i].lost(); err != nil {
			errs = append(errs, fmt.Errorf("saving pairs: %w", err))
		}
	}
	return errors.Join(errs...)
}
