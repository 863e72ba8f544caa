// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"math/bits"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// How pairs of slots are counted.
const (
	countAll    = 32      // sessions of a consumer in which every producer is counted; later only those that ever had its value
	maxPairs    = 1024    // of a consumer
	maxAllPairs = 1 << 19 // of all consumers
	maxBits     = 4096    // sessions of a consumer, by which producers are told apart
)

// consumer is a slot of requests. In each session its first value counts.
type consumer struct {
	slot     Slot
	sessions int // that have it
	had      int // in which a response had the value before
	pairs    map[*producer]*pair

	last              [others]lastValue // of other sessions
	next              int
	compared, differs int // values of two sessions
	example           string
	record            string
}

type lastValue struct {
	session SessionID
	hash    uint64
}

// pair is what was counted of a consumer and one producer.
type pair struct {
	both, equal    int32 // sessions that have both, and those in which they are equal
	strong         int32 // of the equal ones, those of high entropy
	latest         int32 // of the equal ones, those in which no other producer had it later
	trials, chance int32 // other sessions' values, and those that are equal as well
	covered        []uint64
	example        *Example // of an equal one
}

// meet counts the values of a consumer in a session.
func (c *consumer) meet(f *Finder, s *session, values []item, q *recording.Request) {
	if _, met := s.met[c]; met {
		return
	}
	s.met[c] = struct{}{}
	s.of.entries++
	c.compare(s.id, values[0].hash)
	c.sessions++
	if c.example == "" {
		c.example, c.record = shown(values[0].text), string(q.ID)
	}
	had := true
	for _, item := range values {
		if !s.had.has(item.hash) {
			had = false
			break
		}
	}
	if had {
		c.had++
	}
	var latest []*pair
	latestOrder := -1
	count := func(made *production, n *pair) {
		n.both++
		if !had || !made.has(values) {
			return
		}
		n.count(c, s, made, values, q)
		if made.order > latestOrder {
			latest, latestOrder = latest[:0], made.order
		}
		if made.order == latestOrder {
			latest = append(latest, n)
		}
	}
	switch {
	case c.sessions <= countAll:
		for i := range s.productions {
			made := &s.productions[i]
			if n := c.pair(f, made.producer); n != nil {
				count(made, n)
			}
		}
	default:
		for producer, n := range c.pairs {
			if made := s.latest(producer); made != nil {
				count(made, n)
			}
		}
		for i := 0; had && i < len(s.productions); i++ {
			if made := &s.productions[i]; c.pairs[made.producer] == nil && made.has(values) {
				c.pair(f, made.producer) // it counts from the next session on
			}
		}
	}
	for _, n := range latest {
		n.latest++
	}
	if c.sessions >= countAll && bits.OnesCount(uint(c.sessions)) == 1 {
		f.pairs -= c.prune()
	}
}

// compare compares a value with those of other sessions.
func (c *consumer) compare(id SessionID, hash uint64) {
	for _, last := range c.last {
		if last.session == 0 {
			continue
		}
		c.compared++
		if last.hash != hash {
			c.differs++
		}
	}
	c.last[c.next] = lastValue{id, hash}
	c.next = (c.next + 1) % others
}

// pair returns the counts of a producer, nil if there are too many.
func (c *consumer) pair(f *Finder, p *producer) *pair {
	n := c.pairs[p]
	if n == nil {
		if len(c.pairs) >= maxPairs || f.pairs >= maxAllPairs {
			f.result.Left.Pairs++
			return nil
		}
		f.pairs++
		n = new(pair)
		c.pairs[p] = n
	}
	return n
}

// prune forgets the producers that are mostly unequal, and returns how many.
func (c *consumer) prune() (forgotten int) {
	for producer, n := range c.pairs {
		if n.equal*2 < n.both {
			delete(c.pairs, producer)
			forgotten++
		}
	}
	return forgotten
}

// count counts a session in which both are equal.
func (n *pair) count(c *consumer, s *session, made *production, values []item, q *recording.Request) {
	n.equal++
	strong := true
	for _, item := range values {
		strong = strong && item.strong
	}
	if strong {
		n.strong++
	}
	if n.equal == 1 {
		n.example = &Example{Value: shown(values[0].text), Producer: made.record, Consumer: string(q.ID)}
	}
	if at := c.sessions - 1; at < maxBits {
		for len(n.covered) <= at/64 {
			n.covered = append(n.covered, 0)
		}
		n.covered[at/64] |= 1 << (at % 64)
	}
	for _, other := range made.producer.last {
		if other == nil || other == s {
			continue
		}
		if elsewhere := other.latest(made.producer); elsewhere != nil {
			n.trials++
			if elsewhere.has(values) {
				n.chance++
			}
		}
	}
}
