// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package follow follows the conversations of a recording: what a request has
// from an earlier answer of its session it gets from the answer of the target
// instead. It decides what waits for what, and sends nothing itself.
package follow

import (
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// Bounds of what is kept.
const (
	maxSessions = 10_000   // those that were idle for longest go first
	maxBytes    = 64 << 20 // of all sessions together, roughly; the same
	maxSecrets  = 64       // long values of a session, looked for in its requests
	maxKnown    = 1024     // values of a session in all
	maxCookies  = 128      // of a session
)

// Sessions assigns records to sessions, in the order of their times.
type Sessions interface {
	// Of returns the session of a record, and false if it has none.
	Of(*recording.Request) (session string, ok bool)
}

// Options are what conversations follow.
type Options struct {
	Links    []conversation.Link
	Sessions func() Sessions // called for each pass through the recording
	// Last reports whether the record that Next gets is known to be the last of
	// its session, unless it is nil. What is kept of the session goes then.
	Last func() bool
	// Address returns what a target is told as its host, if that is not the recorded
	// one, and what it is asked for in place of the target of a request, unless it
	// is nil.
	Address func(target int, asked string) (host, sent string)
	Targets int
	// Again is how many of the targets, at the end, are others once more. What is
	// to be done once, they are asked to do a second time.
	Again int
	// Pauses makes a request that waits for an answer due at the end of that and as
	// long after as it was recorded, divided by this. 0: when it was due anyhow,
	// or as the answer comes.
	Pauses float64
}

// Conversations are those of one run.
type Conversations struct {
	options   Options
	links     []linkCounts
	consumers map[string][]int // links, by endpoint
	producers map[string][]int
	seed      string
	refused   []refused // by target

	// The rest belongs to Session and Next.
	sessions Sessions
	session  string // of the record that Session was called for
	known    bool
	named    bool        // it was
	found    atomic.Bool // a session
	pass     int
	table    table
	reader   conversation.Reader
	draft    edit.Draft
	name     []byte
}

// linkCounts is what became of a link's consumers.
type linkCounts struct {
	conversation.Link
	elsewhere atomic.Int64
	targets   []struct{ followed, failed, gone, kept atomic.Int64 }
}

// refused counts the cookies of a target that no browser would have taken.
type refused struct {
	n     atomic.Int64
	first atomic.Pointer[string]
}

// New returns conversations that begin.
func New(o Options) *Conversations {
	c := &Conversations{
		options: o, consumers: make(map[string][]int), producers: make(map[string][]int), seed: rand.Text(), sessions: o.Sessions(),
		refused: make([]refused, o.Targets),
	}
	c.table.most, c.table.mostBytes = maxSessions, maxBytes
	c.links = make([]linkCounts, len(o.Links))
	for i, link := range o.Links {
		l := &c.links[i]
		l.Link = link
		l.targets = make([]struct{ followed, failed, gone, kept atomic.Int64 }, o.Targets)
		c.consumers[link.Consumer.Endpoint] = append(c.consumers[link.Consumer.Endpoint], i)
		c.producers[link.Producer.Endpoint] = append(c.producers[link.Producer.Endpoint], i)
	}
	return c
}

// Count is what became of the requests that a link is about, at one target.
type Count struct {
	conversation.Link
	Followed  int64 // got their value from the answer
	Failed    int64 // were not sent: the request that they follow failed
	Gone      int64 // were not sent: it was answered as recorded, but the value is not there
	Kept      int64 // went as they were recorded: the value stands where it cannot be replaced
	Elsewhere int64 // have a value that was in no earlier answer of the recording
}

// Counts returns what became of each link at a target, in the order of the links.
func (c *Conversations) Counts(target int) []Count {
	counts := make([]Count, len(c.links))
	for i := range c.links {
		l := &c.links[i]
		t := &l.targets[target]
		counts[i] = Count{l.Link, t.followed.Load(), t.failed.Load(), t.gone.Load(), t.kept.Load(), l.elsewhere.Load()}
	}
	return counts
}

// Found reports whether a record has a session. Nothing is followed without one.
func (c *Conversations) Found() bool { return c.found.Load() }

// Returned returns how often a session came back after it was forgotten, since too
// many others went on, or came in between.
func (c *Conversations) Returned() int64 { return c.table.returned.Load() }

// Session returns the session of the next record, and false if it has none, ahead
// of Next or, for a record that is not sent from here, in place of it: sessions
// are found in the records of all.
func (c *Conversations) Session(r *recording.Request, pass int) (session string, ok bool) {
	if pass != c.pass {
		c.pass, c.sessions = pass, c.options.Sessions()
		c.table.clear()
	}
	if c.session, c.known = c.sessions.Of(r); c.known {
		c.found.Store(true)
	}
	c.named = true
	return c.session, c.known
}

// Refused returns how many cookies of a target no browser would have taken, and
// why the first.
func (c *Conversations) Refused(target int) (n int64, first string) {
	t := &c.refused[target]
	if why := t.first.Load(); why != nil {
		first = *why
	}
	return t.n.Load(), first
}

// Next returns the step of the next record, in the order of their times. A pass
// is how often the recording has begun again; its sessions are new ones.
func (c *Conversations) Next(r *recording.Request, pass int) *Step {
	if !c.named {
		c.Session(r, pass)
	}
	c.named = false
	step := &Step{run: c, pass: pass, recorded: r.TimeNS}
	key, ok := c.session, c.known
	if !ok {
		return step
	}
	step.session, step.target, step.origin = c.table.get(key, c.options.Targets), string(r.URI), originOf(r)
	step.origin.secure = step.origin.secure || step.session.secure
	step.at, step.left = make([]outcome, c.options.Targets), c.options.Targets
	c.name = endpoint.AppendName(c.name[:0], r.Method, r.URI, r.Body)
	c.draft.Begin(r)
	step.consume(r, c.consumers[string(c.name)])
	step.useCookies()
	step.produce(r, c.producers[string(c.name)])
	c.table.settle(key, c.options.Last != nil && c.options.Last())
	return step
}

// pause returns the time between a recorded answer and the request that followed
// it, as it is kept.
func (c *Conversations) pause(ended, began int64) time.Duration {
	if c.options.Pauses == 0 || ended == 0 || began < ended {
		return 0
	}
	return time.Duration(float64(began-ended) / c.options.Pauses)
}
