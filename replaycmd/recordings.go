// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// keeper is the consumer of --record: it records what each target responds, in a
// folder of its own.
type keeper struct {
	targets []*kept
	ctx     context.Context
}

// kept is the recording of one target.
type kept struct {
	name, folder string
	recorder     *recorder.Recorder

	cut     atomic.Int64 // bodies of which only the beginning is recorded
	refused atomic.Int64 // bodies of responses that are there in part for want of memory
	keptCounts
}

// keptBody is how many bytes are recorded of the body of a response.
const keptBody = 16 << 20

// newKeeper returns the keeper of a folder. A folder of a target that has
// recordings already is refused: the responses of two runs are no baseline.
// Where requests are due at times a slow disk holds none up: what memory is too
// small for is lost and counted.
func newKeeper(ctx context.Context, dir string, targets []send.Target, timed bool) (*keeper, error) {
	if err := recorder.CheckDir(dir); err != nil {
		return nil, fmt.Errorf("--record: %v", err)
	}
	k := &keeper{ctx: ctx}
	folders := make(map[string]bool)
	for _, target := range targets {
		options := recorder.Options{Dir: filepath.Join(dir, folderOf(target.Name, folders)), MaxBody: keptBody}.WithDefaults()
		if timed {
			if err := options.OnOverflow.UnmarshalText([]byte("drop")); err != nil {
				return nil, err
			}
		}
		if found, _ := inFolder(options.Dir, func(error) {}); len(found) > 0 {
			return nil, fmt.Errorf("--record: '%s' has recordings already: expected a folder without any", options.Dir)
		}
		t := &kept{name: target.Name, folder: options.Dir}
		t.recorder = recorder.New(options, &t.keptCounts)
		k.targets = append(k.targets, t)
	}
	return k, nil
}

// folderOf returns the name of a target's folder, which is not taken yet, and
// takes it.
func folderOf(target string, taken map[string]bool) string {
	name := []byte(target)
	for i, c := range name {
		if !isNameByte(c) {
			name[i] = '_'
		}
	}
	base := string(name)
	if strings.Trim(base, ".") == "" { // the folder itself, or the one above
		base = strings.Repeat("_", len(base))
	}
	folder := base
	for n := 2; taken[strings.ToLower(folder)]; n++ {
		folder = fmt.Sprintf("%s-%d", base, n)
	}
	taken[strings.ToLower(folder)] = true
	return folder
}

func isNameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '_' || c == '-'
}

// consume records a request as it was recorded, at the time at which it was sent,
// with its response. What the end of the run broke off is no response.
func (k *keeper) consume(x *exchange) {
	if x.err != nil && http1.KindOf(x.err) == http1.Interrupted || x.target >= len(k.targets) { // it is asked a second time
		return
	}
	t := k.targets[x.target]
	_, headers, _ := bytes.Cut(x.response.Head, []byte("\n")) // the status line
	response := recording.Response{
		Status: x.status, Headers: bytes.TrimSuffix(bytes.TrimSuffix(headers, []byte("\n")), []byte("\r")),
		Body: x.response.Body, BodySize: uint64(x.bodySize), Trailers: x.response.Trailers,
		DurationNS: int64(x.ended.Sub(x.started)),
	}
	if x.err != nil {
		response.Error = brokeOff(x)
	}
	switch {
	case x.response.Refused:
		t.refused.Add(1)
	case response.Truncated():
		t.cut.Add(1)
	}
	record := *x.record
	record.TimeNS, record.Response = x.started.UnixNano(), &response
	if len(record.ID) == 0 {
		record.ID = []byte(rand.Text())
	}
	t.recorder.Record(k.ctx, &record)
}

// brokeOff returns why there is no whole response.
func brokeOff(x *exchange) []byte {
	if x.status == 0 {
		return []byte(x.err.Error())
	}
	return fmt.Appendf(nil, "after %d bytes of the body: %v", x.bodySize, x.err)
}

// finish ends the recordings, after the run. It notes what is lost of each
// target, and then returns an error.
func (k *keeper) finish(note func(error)) (err error) {
	var closing sync.WaitGroup
	for _, t := range k.targets {
		closing.Go(func() {
			for t.recorder.Running() {
				t.recorder.Close()
			}
		})
	}
	closing.Wait()
	for _, t := range k.targets {
		if n := t.cut.Load(); n > 0 {
			note(fmt.Errorf("%s: %s bodies of responses are longer than %s and recorded up to there", t.name, humanize.Comma(n), humanize.IBytes(keptBody)))
		}
		if n := t.refused.Load(); n > 0 {
			note(fmt.Errorf("%s: %s bodies of responses are recorded in part: those that came at the same time took more than %s", t.name, humanize.Comma(n), humanize.IBytes(maxCaptured)))
		}
		if lost := t.lost(); lost != nil {
			note(fmt.Errorf("%s: %w", t.name, lost))
			err = errors.New("not all that was answered is recorded")
		}
	}
	return err
}

// keptCounts is the observer of one recorder.
type keptCounts struct {
	mu       sync.Mutex
	recorded int
	dropped  int
	trouble  error // the last one
}

func (c *keptCounts) Recorded(records int, _, _ int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded += records
}

func (c *keptCounts) Dropped(_ recorder.Reason, records int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped += records
}

func (c *keptCounts) Report(trouble recorder.Trouble) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble = trouble.Err
}

func (*keptCounts) Failed(recorder.Operation)     {}
func (*keptCounts) Finished(string, int64)        {}
func (*keptCounts) Adopted(string, int64)         {}
func (*keptCounts) Deleted(string, int64, string) {}

// lost returns an error if something was not recorded, or the file could not be
// finished.
func (c *keptCounts) lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.dropped > 0:
		return fmt.Errorf("%s of %s responses are not recorded: %v", humanize.Comma(int64(c.dropped)), humanize.Comma(int64(c.dropped+c.recorded)), c.trouble)
	case c.trouble != nil:
		return fmt.Errorf("recording failed: %v", c.trouble)
	}
	return nil
}

// savePairs saves the pairs that differ in a folder: in the folders old and new
// of it, or, of several new systems, of one for each.
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

// close writes what was added. The error has what was lost.
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
