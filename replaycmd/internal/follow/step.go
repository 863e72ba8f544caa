// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"slices"
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// Step is one request of a session: what it needs of earlier answers, and what
// later requests need of its own.
type Step struct {
	run      *Conversations
	session  *session // nil: it is part of none
	pass     int
	recorded int64 // when the request was, in nanoseconds since 1970
	ended    int64 // when its answer was there; 0: not known
	status   int   // of the recorded answer; 0: there is none

	target   string // as it was recorded
	origin   origin
	needs    []need
	jarred   map[string]bool // cookies that go as the jar has them
	products []conversation.Place
	counts   []int // values of the recorded answer at each of them

	mu   sync.Mutex
	at   []outcome // of each target
	left int       // of these, those that are open
}

// need is a value that a request has of an earlier answer.
type need struct {
	source
	link    int // -1: of a cookie that is in no link
	old     string
	place   conversation.Place
	secret  *edit.Secret // nil: it is replaced at its place only
	lenient bool         // the request goes without it as well
}

// outcome is what became of a step at one target.
type outcome struct {
	state   state
	values  [][]string // of each product
	status  int
	ended   time.Time
	waiting []func()
	target  string     // of the request as it is sent, if that is not the recorded one
	final   *origin    // of the last request, where redirects were followed
	passed  [][]string // values of the redirects that were followed
}

type state uint8

const (
	open     state = iota
	answered       // with whatever status
	failed         // no answer came, or it was not sent
)

// consume finds what a request has of earlier answers: at the places of links,
// and long values wherever they are.
func (s *Step) consume(r *recording.Request, links []int) {
	found := make(map[conversation.Place][]string)
	for _, i := range links {
		found[s.run.links[i].Consumer.Place] = nil
	}
	if len(found) > 0 {
		s.run.reader.Request(r, func(at conversation.Place, value []byte) {
			if values, wanted := found[at]; wanted {
				found[at] = append(values, string(value))
			}
		})
	}
	done := make(map[string]bool)
	for _, i := range links {
		at := s.run.links[i].Consumer.Place
		values := found[at]
		found[at] = nil // of several links to one place, the answer counts that was last
		for _, value := range values {
			n, ok := s.newest(links, at, value)
			if !ok {
				s.run.links[i].elsewhere.Add(1)
				continue
			}
			done[value] = true
			s.needs = append(s.needs, n)
		}
	}
	defer s.keepOrder()
	for i := range s.session.secrets {
		secret := &s.session.secrets[i]
		if done[secret.Value] {
			continue
		}
		if s.run.draft.Has(secret.Secret) {
			s.needs = append(s.needs, need{source: secret.source, link: secret.link, old: secret.Value, secret: secret.Secret})
		}
	}
}

// keepOrder makes a request wait as well for those that were about the same
// thing and had been answered when it was recorded: what is put into a cart is
// there before the cart is ordered. Credentials are no such thing, or a session
// would be one request after the other.
func (s *Step) keepOrder() {
	for _, n := range s.needs {
		switch s.run.links[n.link].Consumer.Place.Kind { //nolint:exhaustive // the others are things
		case conversation.Cookie, conversation.Bearer:
			continue
		}
		for _, user := range s.session.users[n.step] {
			if user != s && user.ended <= s.recorded {
				s.needs = append(s.needs, need{source: source{step: user}, link: -1, lenient: true})
			}
		}
		s.session.use(n.step, s)
	}
}

// newest returns where a value at a place is from: the latest answer of any link.
func (s *Step) newest(links []int, at conversation.Place, value string) (best need, ok bool) {
	for _, i := range links {
		l := &s.run.links[i]
		if l.Consumer.Place != at {
			continue
		}
		from, found := s.session.find(valued{l.Producer, value}, s.recorded)
		if !found { // unless the recording has no answers to find it in
			from, found = s.session.latest[l.Producer]
		}
		if found && (!ok || from.ended() > best.ended() && from.ended() <= s.recorded) {
			best, ok = need{source: from, link: i, old: value, place: at}, true
		}
	}
	if ok && len(value) >= edit.MinSecret {
		best.secret = edit.NewSecret(value)
	}
	return best, ok
}

// useCookies finds the cookies that go as the jar has them: those that the
// request has as the recorded answers have handed them out last.
func (s *Step) useCookies() {
	recorded := time.Unix(0, s.recorded)
	s.run.draft.Cookies(func(name, value string) (string, bool) {
		handed, _ := s.session.recorded.of(name, s.origin, recorded)
		at := slices.IndexFunc(handed, func(c cookie) bool { return c.value == value })
		if at < 0 && !s.origin.secure { // unless what is recorded came through a proxy that ends TLS
			o := s.origin
			o.secure = true
			all, _ := s.session.recorded.of(name, o, recorded)
			if at = slices.IndexFunc(all, func(c cookie) bool { return c.value == value }); at >= 0 {
				handed, s.origin, s.session.secure = all, o, true
			}
		}
		if at < 0 && len(handed) > 0 {
			return value, true // the client has set it itself, or it is an old one
		}
		if s.jarred == nil {
			s.jarred = make(map[string]bool)
		}
		if at >= 0 && !s.jarred[name] {
			s.needs = append(s.needs, need{source: source{step: handed[at].from}, link: -1, lenient: true})
		}
		s.jarred[name] = true
		return value, true
	})
}

// produce remembers what the answer to a request hands out.
func (s *Step) produce(r *recording.Request, links []int) {
	if r.Response != nil && r.Response.Status > 0 {
		s.status = r.Response.Status
		s.ended = r.TimeNS + r.Response.DurationNS
	}
	products := make(map[conversation.Place]int)
	for _, i := range links {
		at := s.run.links[i].Producer.Place
		if _, known := products[at]; !known {
			products[at] = len(s.products)
			s.products = append(s.products, at)
		}
	}
	s.counts = make([]int, len(s.products))
	if s.status == 0 {
		for i := range s.counts {
			s.counts[i] = 1
		}
		for _, i := range links {
			slot := s.run.links[i].Producer
			s.session.latest[slot] = source{step: s, product: products[slot.Place]}
		}
		return
	}
	if len(products) > 0 {
		for i := range s.counts {
			s.counts[i] = maxKnown
		}
		values := s.valuesOf(&s.run.reader, r.Response)
		for i := range s.counts {
			s.counts[i] = len(values[i])
		}
		for _, i := range links {
			slot := s.run.links[i].Producer
			for n, value := range values[products[slot.Place]] {
				s.session.add(i, valued{slot, value}, source{s, products[slot.Place], n})
			}
		}
	}
	s.session.recorded.take(r.Response.Headers, s.origin, time.Unix(0, s.ended), s)
}

// valuesOf returns the values of an answer at the places of each product, as many
// as the recorded answer had.
func (s *Step) valuesOf(reader *conversation.Reader, r *recording.Response) [][]string {
	values := make([][]string, len(s.products))
	reader.Response(r, func(at conversation.Place, value []byte) {
		for i, product := range s.products {
			if product == at && len(values[i]) < s.counts[i] {
				values[i] = append(values[i], string(value))
			}
		}
	})
	return values
}
