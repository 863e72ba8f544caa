// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"net/url"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Verdict is whether a request can be sent to a target.
type Verdict uint8

// The verdicts.
const (
	Send     Verdict = iota
	Wait             // for an answer
	Unlinked         // what it needs was in no answer
)

// Check decides whether a request can be sent to a target. If it has to wait,
// again is called when it is to be checked again, once, unless it is nil. With
// Send comes when it is due by its pause after the answer that it waited for;
// zero: whenever.
func (s *Step) Check(target int, again func()) (Verdict, time.Time) {
	var due time.Time
	for i := range s.needs {
		n := &s.needs[i]
		o, open := n.step.outcome(target, again)
		switch {
		case open:
			return Wait, time.Time{}
		case !n.lenient && !s.has(n, target, &o):
			s.countUnlinked(n, target, &o)
			s.settle(target, outcome{state: failed, ended: o.ended})
			return Unlinked, time.Time{}
		}
		if pause := s.run.pause(n.step.ended, s.recorded); pause > 0 {
			if at := o.ended.Add(pause); at.After(due) {
				due = at
			}
		}
	}
	return Send, due
}

// outcome returns what became of a step, and whether that is still open: then
// again is called when it no longer is.
func (s *Step) outcome(target int, again func()) (o outcome, isOpen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := &s.at[target]
	if at.state == open && again != nil {
		at.waiting = append(at.waiting, again)
	}
	return *at, at.state == open
}

// has reports whether a target has handed out what is needed.
func (s *Step) has(n *need, target int, o *outcome) bool {
	_, ok := s.value(n, target, o)
	return ok
}

// value returns what stands for a recorded value. A cookie may have come with
// another answer than the recorded one.
func (s *Step) value(n *need, target int, o *outcome) (string, bool) {
	if n.place.Kind == conversation.Cookie && s.jarred[n.place.Name] {
		if sent, _ := s.session.jars[target].of(n.place.Name, s.originAt(target), time.Now()); len(sent) > 0 {
			return strings.Trim(sent[0].value, `"`), true
		}
	}
	if o.state != answered || n.product >= len(o.values) || n.number >= len(o.values[n.product]) {
		return "", false
	}
	return o.values[n.product][n.number], true
}

// countUnlinked counts a request that is not sent, by why.
func (s *Step) countUnlinked(n *need, target int, o *outcome) {
	if n.link < 0 {
		return
	}
	counts := &s.run.links[n.link].targets[target]
	recorded := n.step.status
	if o.state == answered && (o.status/100 == recorded/100 || recorded == 0 && o.status/100 == 2) {
		counts.gone.Add(1)
	} else {
		counts.failed.Add(1)
	}
}

// settle notes what became of a step, and calls those that wait for it.
func (s *Step) settle(target int, o outcome) {
	if s.at == nil {
		return
	}
	s.mu.Lock()
	at := &s.at[target]
	if at.state != open {
		s.mu.Unlock()
		return
	}
	waiting := at.waiting
	*at = o
	if s.left--; s.left == 0 {
		s.needs = nil // or each would keep all before it
	}
	s.mu.Unlock()
	for _, again := range waiting {
		again()
	}
}

// Answered takes the answer of a target.
func (s *Step) Answered(target int, reader *conversation.Reader, r *recording.Response, ended time.Time) {
	if s.session == nil {
		return
	}
	o, at := s.originAt(target), s.outcomeAt(target)
	if at.final != nil {
		o = *at.final
	}
	s.takeCookies(target, r.Headers, o, ended)
	became := outcome{state: answered, status: r.Status, ended: ended}
	if len(s.products) > 0 {
		became.values = s.valuesOf(reader, r)
		fillIn(became.values, at.passed)
	}
	s.settle(target, became)
}

// Redirected takes an answer of a target that leads elsewhere, from where to
// where, and returns the cookies that go there, as they stand in a field: those of
// the session in place of those that the request had.
func (s *Step) Redirected(target int, reader *conversation.Reader, r *recording.Response, from, to *url.URL, had string) string {
	if s.session == nil {
		return had
	}
	s.takeCookies(target, r.Headers, s.originOf(from, target), time.Now())
	o := s.originOf(to, target)
	if from.Scheme == "https" && to.Scheme != "https" {
		o.secure = false
	}
	var values [][]string
	if len(s.products) > 0 {
		values = s.valuesOf(reader, r)
	}
	s.mu.Lock()
	at := &s.at[target]
	fillIn(values, at.passed)
	at.passed, at.final = values, &o
	s.mu.Unlock()
	var pairs []string
	sent := s.session.jars[target].all(o, time.Now())
	for pair := range strings.SplitSeq(had, ";") {
		name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if _, known := s.session.jars[target].of(name, s.origin, time.Now()); !known && name != "" {
			pairs = append(pairs, strings.TrimSpace(pair))
		}
	}
	for _, c := range sent {
		pairs = append(pairs, c.name+"="+c.value)
	}
	return strings.Join(pairs, "; ")
}

// fillIn completes values with those of answers before.
func fillIn(values, before [][]string) {
	for i := range before {
		if len(values[i]) == 0 {
			values[i] = before[i]
		}
	}
}

// outcomeAt returns what is known of the request at a target.
func (s *Step) outcomeAt(target int) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[target]
}

// takeCookies takes those of an answer.
func (s *Step) takeCookies(target int, headers []byte, o origin, now time.Time) {
	for _, why := range s.session.jars[target].take(headers, o, now, nil) {
		counts := &s.run.refused[target]
		if counts.n.Add(1) == 1 {
			counts.first.Store(&why)
		}
	}
}

// originAt returns where the request goes at a target.
func (s *Step) originAt(target int) origin {
	o, asked := s.origin, s.target
	if is := s.outcomeAt(target).target; is != "" {
		asked = is
	}
	if s.run.options.Address != nil {
		o.sent, asked = s.run.options.Address(target, asked)
	}
	o.sent, o.path = hostOf(o.sent), pathOf(asked)
	return o
}

// originOf returns where a request goes that follows a redirect. One to TLS makes
// it secure; one within plain HTTP leaves it as the client had it.
func (s *Step) originOf(to *url.URL, target int) origin {
	o := s.originAt(target)
	o.path = pathOf(to.EscapedPath())
	if host := hostOf(to.Host); host != o.host && host != o.sent {
		o.host, o.sent, o.secure = host, "", false
	}
	o.secure = o.secure || to.Scheme == "https"
	return o
}

// Failed notes that no answer comes from a target.
func (s *Step) Failed(target int, at time.Time) {
	s.settle(target, outcome{state: failed, ended: at})
}

// Produces reports whether later requests may need what is in the body of the
// answer, rather than its cookies alone.
func (s *Step) Produces() bool { return len(s.products) > 0 }
