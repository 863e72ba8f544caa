// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"container/list"
	"slices"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Bounds of one session.
const (
	maxAsked   = 4096 // values of its requests
	maxHad     = 4096 // values of its responses
	maxAnswers = 16   // responses that have not ended
	maxAtPlace = 64   // values at one place of a response
)

// live are the sessions of which values are kept. Those that were idle for
// longest go when there is no more room, as most have ended. Where many of them
// come back there are too many at once, and only every second one is looked
// into, then every fourth: some sessions as wholes say more than parts of all.
type live struct {
	sessions map[SessionID]*session
	idle     list.List // of *session, the longest idle first
	entries  int       // values kept
	most     int       // that may be kept
	halved   int       // how often the sessions that are looked into were halved
	went     int       // since then
	back     int       // of these that came back
	left     *Left
	spare    spare
}

// session is what is kept of one.
type session struct {
	id      SessionID
	of      *live
	element *list.Element

	productions []production
	index       map[*producer]int // of productions
	had         hashes
	asked       hashes
	met         map[*consumer]struct{}
	answers     []answer
	order       int // of answers
}

// production is what a producer has made last in a session.
type production struct {
	producer *producer
	values   []uint64
	record   string
	order    int
}

// answer is a response that may not have ended.
type answer struct {
	ended int64
	made  []production
}

// How many sessions have to have gone, and which part of them has to come back,
// before there are too many at once.
const (
	manyWent = 64
	manyBack = 0.25
)

// session returns the session, nil if it is none that is looked into. One that
// was met before and is not kept has come back without its beginning.
func (l *live) session(id SessionID, metBefore bool) (s *session, isBack bool) {
	if s := l.sessions[id]; s != nil {
		l.idle.MoveToBack(s.element)
		return s, false
	}
	if metBefore || !l.looksInto(id) {
		return nil, metBefore && l.looksInto(id)
	}
	if l.sessions == nil {
		l.sessions = make(map[SessionID]*session)
	}
	s = &session{
		id: id, of: l, index: make(map[*producer]int), met: make(map[*consumer]struct{}),
	}
	s.element = l.idle.PushBack(s)
	l.sessions[id] = s
	l.entries += s.entries()
	return s, false
}

// cameBack counts a session that went and came back, and returns how many are no
// longer looked into for that.
func (l *live) cameBack() (dropped int64) {
	l.back++
	if l.went < manyWent || float64(l.back) <= manyBack*float64(l.went) {
		return 0
	}
	l.halved, l.went, l.back = min(l.halved+1, 32), 0, 0
	for _, s := range l.sessions {
		if !l.looksInto(s.id) {
			l.forget(s)
			dropped++
		}
	}
	return dropped
}

// looksInto reports whether a session is one of those that are looked into.
func (l *live) looksInto(id SessionID) bool { return uint64(id)&(1<<l.halved-1) == 0 }

// trim forgets the sessions that were idle for longest, while too much is kept.
func (l *live) trim() {
	for l.entries > l.most && l.idle.Len() > 1 {
		l.forget(l.idle.Front().Value.(*session))
		l.went++
	}
}

func (l *live) forget(s *session) {
	l.idle.Remove(s.element)
	delete(l.sessions, s.id)
	l.entries -= s.entries()
	for i := range s.productions {
		l.spare.giveValues(s.productions[i].values)
	}
	s.productions, s.index, s.had, s.asked, s.met, s.answers = nil, nil, hashes{}, hashes{}, nil, nil
}

// entries returns how many values are kept, as live counts them. A session by
// itself takes as much as some.
func (s *session) entries() int {
	const itself = 32
	n := s.had.count + s.asked.count + len(s.met) + itself
	for _, p := range s.productions {
		n += 8 + len(p.values)
	}
	return n
}

// ask keeps a value of a request.
func (s *session) ask(value uint64) {
	switch {
	case s.asked.count >= maxAsked:
		s.of.left.Values++
	case s.asked.add(value):
		s.of.entries++
	}
}

// answer keeps the values of a response until it has ended.
func (s *session) answer(f *Finder, e *slots, q *recording.Request) {
	if len(s.answers) == maxAnswers {
		s.publishFirst()
	}
	spare := &s.of.spare
	a := answer{ended: q.TimeNS + q.Response.DurationNS, made: spare.productions()}
	record := string(q.ID)
	for number, item := range f.ofResponse {
		p := e.producer(item.place, number)
		if p == nil {
			s.of.left.Slots++
			continue
		}
		if p.index >= len(a.made) || a.made[p.index].producer != p {
			p.index = len(a.made)
			a.made = append(a.made, production{producer: p, record: record, values: spare.values()})
		}
		if made := &a.made[p.index]; len(made.values) < maxAtPlace {
			made.values = append(made.values, item.hash)
		} else {
			s.of.left.Values++
		}
	}
	s.answers = append(s.answers, a)
}

// publish makes those responses producers that ended before a request came.
func (s *session) publish(now int64) {
	for len(s.answers) > 0 && (s.answers[0].ended <= now+int64(Earlier) || now == 0) {
		s.publishFirst()
	}
}

// publishFirst makes the oldest response a producer. Values that stood in a
// request before are echoes: the response is not where they come from.
func (s *session) publishFirst() {
	made, spare := s.answers[0].made, &s.of.spare
	s.answers = slices.Delete(s.answers, 0, 1)
	s.order++
	defer spare.giveProductions(made)
	for i := range made {
		p := &made[i]
		values := p.values[:0]
		for _, value := range p.values {
			if s.asked.has(value) {
				continue // an echo
			}
			values = append(values, value)
			switch {
			case s.had.count >= maxHad:
				s.of.left.Values++
			case s.had.add(value):
				s.of.entries++
			}
		}
		if len(values) == 0 {
			spare.giveValues(values)
			continue
		}
		p.values, p.order = values, s.order
		s.of.entries += len(values) + 8
		if i, ok := s.index[p.producer]; ok {
			s.of.entries -= len(s.productions[i].values) + 8
			spare.giveValues(s.productions[i].values)
			s.productions[i] = *p
			continue
		}
		s.index[p.producer] = len(s.productions)
		s.productions = append(s.productions, *p)
		p.producer.remember(s)
	}
}

// latest returns what a producer has made last in the session.
func (s *session) latest(p *producer) *production {
	if i, ok := s.index[p]; ok {
		return &s.productions[i]
	}
	return nil
}

// has reports whether all values of a consumer are among those produced.
func (p *production) has(values []item) bool {
	for _, item := range values {
		found := false
		for _, value := range p.values {
			if found = value == item.hash; found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// others is how many other sessions' values a value is held against.
const others = 8

// producer is a slot of responses, with the sessions that had it last.
type producer struct {
	slot  Slot
	last  [others]*session
	next  int
	index int // among the productions of the answer that had it last
}

func (p *producer) remember(s *session) {
	p.last[p.next] = s
	p.next = (p.next + 1) % others
}
