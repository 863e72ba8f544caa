// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// mostNear is how many near misses of one request are told.
const mostNear = 3

// serveEvents lists the requests of the journal, the latest first.
func (s *Stubs) serveEvents(c *inquiry) (any, error) {
	since, err := c.since()
	if err != nil {
		return nil, err
	}
	unmatched, stub := c.query.Get("unmatched") == "true", strings.ToLower(c.query.Get("matchingStub"))
	var asked []*event
	for _, e := range s.journal.all() {
		switch {
		case unmatched && e.mapping != nil, !since.IsZero() && !e.at.After(since):
		case stub != "" && (e.mapping == nil || e.mapping.ID() != stub):
		default:
			asked = append(asked, e)
		}
	}
	list, err := paged(c, asked)
	if err != nil {
		return nil, err
	}
	return listing{"requests", each(list, s.served), map[string]any{"meta": total{len(asked)}, "requestJournalDisabled": false}}, nil
}

func (s *Stubs) serveEvent(c *inquiry) (any, error) {
	id := strings.ToLower(c.PathValue("id"))
	if !wiremock.IsUUID(id) {
		return nil, noUUID(id)
	}
	for _, e := range s.journal.all() {
		if e.id == id {
			return s.served(e), nil
		}
	}
	return nil, notFound("there is no such request in the journal")
}

func (s *Stubs) serveForget(*inquiry) (any, error) {
	s.journal.remove(s.journal.all())
	return nothing, nil
}

func (s *Stubs) serveForgetOne(c *inquiry) (any, error) {
	id := strings.ToLower(c.PathValue("id"))
	s.journal.remove(slices.DeleteFunc(s.journal.all(), func(e *event) bool { return e.id != id }))
	return nothing, nil
}

// matching returns the events whose requests meet the conditions in the body, the
// latest first.
func (s *Stubs) matching(c *inquiry) ([]*event, error) {
	criteria, err := s.criteria(c.body)
	if err != nil {
		return nil, err
	}
	return among(c.search(), s.journal.all(), func(e *event) (bool, error) { return criteria.Meets(e.request()) })
}

func (s *Stubs) serveCount(c *inquiry) (any, error) {
	list, err := s.matching(c)
	return map[string]any{"count": len(list), "requestJournalDisabled": false}, err
}

func (s *Stubs) serveFind(c *inquiry) (any, error) {
	list, err := s.matching(c)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	return requestsOf(list), nil
}

func requestsOf(list []*event) listing {
	return listing{"requests", each(list, func(e *event) any { return e.logged() }), map[string]any{"requestJournalDisabled": false}}
}

// unmatched returns the events that no mapping took, the latest first.
func (s *Stubs) unmatched() (list []*event) {
	for _, e := range s.journal.all() {
		if e.mapping == nil {
			list = append(list, e)
		}
	}
	return list
}

func (s *Stubs) serveUnmatched(*inquiry) (any, error) { return requestsOf(s.unmatched()), nil }

func (s *Stubs) serveForgetMatching(c *inquiry) (any, error) {
	list, err := s.matching(c)
	if err != nil {
		return nil, err
	}
	return s.forgotten(list), nil
}

func (s *Stubs) serveForgetByMetadata(c *inquiry) (any, error) {
	has, err := s.onMetadata(c.body)
	if err != nil {
		return nil, err
	}
	list, err := among(c.search(), s.journal.all(), func(e *event) (bool, error) {
		if e.mapping == nil {
			return false, nil
		}
		return has(e.mapping)
	})
	if err != nil {
		return nil, err
	}
	return s.forgotten(list), nil
}

// forgotten takes events out of the journal, and lists them.
func (s *Stubs) forgotten(list []*event) listing {
	s.journal.remove(list)
	return listing{name: "serveEvents", elements: each(list, s.served)}
}

// nearMiss is a request and the mapping, or the conditions, that it nearly met.
type nearMiss struct {
	Request loggedRequest   `json:"request"`
	Stub    json.RawMessage `json:"stubMapping,omitempty"`
	Pattern json.RawMessage `json:"requestPattern,omitempty"`
	Result  struct {
		Distance float64 `json:"distance"`
	} `json:"matchResult"`
}

func nearMisses(misses iter.Seq[any]) listing { return listing{name: "nearMisses", elements: misses} }

// near returns the near misses of requests.
func (s *Stubs) near(c *inquiry, events ...*event) (any, error) {
	type near struct {
		*event
		wiremock.Near
	}
	var all []near
	_, err := among(c.search(), events, func(e *event) (bool, error) {
		list, err := s.current().Nearest(e.request(), mostNear)
		for _, one := range list {
			all = append(all, near{e, one})
		}
		return false, err
	})
	return nearMisses(each(all, func(one near) any {
		miss := nearMiss{Request: one.logged(), Stub: one.JSON()}
		miss.Result.Distance = one.Distance
		return miss
	})), err
}

func (s *Stubs) serveNearUnmatched(c *inquiry) (any, error) { return s.near(c, s.unmatched()...) }

func (s *Stubs) serveNearRequest(c *inquiry) (any, error) {
	var posted loggedRequest
	if err := c.into(&posted); err != nil {
		return nil, err
	}
	return s.near(c, posted.event())
}

func (s *Stubs) serveNearPattern(c *inquiry) (any, error) {
	criteria, err := s.criteria(c.body)
	if err != nil {
		return nil, err
	}
	type far struct {
		*event
		distance float64
	}
	var all []far
	_, err = among(c.search(), s.journal.all(), func(e *event) (bool, error) {
		distance, err := criteria.Distance(e.request())
		all = append(all, far{e, distance})
		return false, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b far) int { return cmp.Compare(a.distance, b.distance) })
	return nearMisses(each(all[:min(mostNear, len(all))], func(one far) any {
		miss := nearMiss{Request: one.logged(), Pattern: c.body}
		miss.Result.Distance = one.distance
		return miss
	})), nil
}

// event returns a request that was posted as one of the journal.
func (r *loggedRequest) event() *event {
	e := &event{
		at: time.Now(), method: cmp.Or(r.Method, http.MethodGet), target: cmp.Or(r.URL, r.AbsoluteURL, "/"),
		host: r.Host, scheme: cmp.Or(r.Scheme, "http"), clientIP: r.ClientIP, protocol: r.Protocol, body: []byte(r.Body),
	}
	if raw, err := base64.StdEncoding.DecodeString(r.BodyAsBase64); err == nil && len(raw) > 0 {
		e.body = raw
	}
	for name, values := range r.Headers {
		for _, value := range values {
			e.header = append(e.header, wiremock.Field{Name: name, Value: value})
		}
		if equalFold(name, "Host") && len(values) > 0 {
			e.host = values[0]
		}
	}
	return e
}
