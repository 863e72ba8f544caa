// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Slot is a place in the requests, or in the responses, of one endpoint.
type Slot struct {
	// Endpoint is method and template of the path: `POST /carts/*/items`.
	Endpoint string `json:"endpoint"`

	// Place is where in the message the value stands.
	Place Place `json:"place"`
}

// String returns endpoint and place.
func (s Slot) String() string { return s.Endpoint + " " + s.Place.String() }

func (s Slot) compare(other Slot) int {
	return cmp.Or(strings.Compare(s.Endpoint, other.Endpoint), cmp.Compare(s.Place.Kind, other.Place.Kind),
		strings.Compare(s.Place.Name, other.Place.Name), cmp.Compare(s.Place.Segment, other.Place.Segment))
}

// Link is a consumer slot whose value comes from a producer slot: from the
// latest earlier response of the session that has it.
type Link struct {
	// Consumer is where requests have the value.
	Consumer Slot `json:"consumer"`

	// Producer is where earlier responses have it.
	Producer Slot `json:"producer"`

	// Sessions is in how many sessions both were found.
	Sessions int `json:"sessions"`

	// Support is the share of those sessions in which the values are equal, from
	// 0 to 1.
	Support float64 `json:"support"`

	// Chance is the share of pairs with other sessions' producers in which they
	// are equal, from 0 to 1.
	Chance float64 `json:"chance"`

	// Example is one pair of equal values. A file may be without.
	Example Example `json:"example,omitzero"`
}

// Example is one value that went from a response into a request.
type Example struct {
	// Value is the value, or its beginning.
	Value string `json:"value"`

	// Producer is the identifier of the record whose response had it.
	Producer string `json:"producer"`

	// Consumer is the identifier of the record whose request had it.
	Consumer string `json:"consumer"`
}

// The rule by which a pair of slots is a link.
const (
	MinSupport  = 0.9 // share of the sessions that have both in which they are equal
	MaxChance   = 0.1 // share of the pairs with other sessions in which they are
	MinSessions = 10  // that have both, unless the values have high entropy
)

// Result is what was found.
type Result struct {
	File

	// Records is how many records there were, Responses how many of them have a
	// response, and Outside how many belong to no session.
	Records, Responses, Outside int64

	// Sessions is how many sessions there were. One counts again that comes back
	// after 16,384 others.
	Sessions int64

	// Few are pairs that too few sessions have to be links: their values are so
	// short that they may be equal by chance.
	Few []Link

	// Elsewhere are consumers whose values differ between sessions and were in no
	// earlier response: the client made them, or they were handed out before or
	// elsewhere.
	Elsewhere []Elsewhere

	// Left is what was left out.
	Left Left

	// Ends are the last records of sessions, if the finder was to know them.
	Ends *Ends
}

// Elsewhere is a consumer whose values appeared in no response.
type Elsewhere struct {
	Consumer Slot
	Sessions int    // that have it
	Value    string // an example, or its beginning
	Record   string // the identifier of the record that has it
}

// Result returns what was found, in the order of consumers and producers. No
// record can be added after it.
func (f *Finder) Result() *Result {
	if f.sessions == nil {
		f.choose()
	}
	r := new(Result) // which keeps nothing else of the finder
	*r = f.result
	r.Session, r.Links = f.sessions.keys, []Link{}
	if r.Ends != nil {
		r.Ends.finish()
	}
	for _, c := range f.consumers {
		links, few := c.links()
		r.Links = append(r.Links, links...)
		switch {
		case len(links) > 0:
		case few != nil:
			r.Few = append(r.Few, *few)
		case c.compared > 0 && float64(c.differs) >= (1-MaxChance)*float64(c.compared) && float64(c.had) < (1-MinSupport)*float64(c.sessions):
			r.Elsewhere = append(r.Elsewhere, Elsewhere{c.slot, c.sessions, c.example, c.record})
		}
	}
	byConsumer := func(a, b Link) int {
		return cmp.Or(a.Consumer.compare(b.Consumer), -cmp.Compare(a.Sessions, b.Sessions))
	}
	slices.SortStableFunc(r.Links, byConsumer)
	slices.SortStableFunc(r.Few, byConsumer)
	slices.SortStableFunc(r.Elsewhere, func(a, b Elsewhere) int { return a.Consumer.compare(b.Consumer) })
	return r
}

// candidate is a pair that holds.
type candidate struct {
	*pair
	producer *producer
}

// links returns the links of a consumer: the producer that most sessions have,
// then those that others have. Without any, it returns the best pair that too
// few sessions have.
func (c *consumer) links() (links []Link, few *Link) {
	var holding, short []candidate
	for producer, n := range c.pairs {
		switch n.verdict() {
		case holds:
			holding = append(holding, candidate{n, producer})
		case tooFew:
			if c.isIdentifying(n) {
				short = append(short, candidate{n, producer})
			}
		case no:
		}
	}
	slices.SortFunc(holding, candidate.compare)
	slices.SortFunc(short, candidate.compare)
	var covered []uint64
	for _, link := range holding {
		fresh := link.beyond(covered)
		if len(links) > 0 && (fresh < MinSessions && (fresh == 0 || link.strong < link.equal)) {
			continue
		}
		links = append(links, c.link(link))
		for len(covered) < len(link.covered) {
			covered = append(covered, 0)
		}
		for i, word := range link.covered {
			covered[i] |= word
		}
	}
	if len(short) > 0 {
		link := c.link(short[0])
		few = &link
	}
	return links, few
}

func (c *consumer) link(of candidate) Link {
	share := func(n, of int32) float64 {
		if of == 0 {
			return 0
		}
		return math.Round(1e4*float64(n)/float64(of)) / 1e4
	}
	return Link{
		Consumer: c.slot, Producer: of.producer.slot, Sessions: int(of.both),
		Support: share(of.equal, of.both), Chance: share(of.chance, of.trials), Example: *of.example,
	}
}

type verdict byte

const (
	no     verdict = iota
	tooFew         // it would hold if more sessions had it
	holds
)

// verdict applies the rule for links to the counts of a pair.
func (n *pair) verdict() verdict {
	switch {
	case n.equal == 0 || float64(n.equal) < MinSupport*float64(n.both) || float64(n.chance) > MaxChance*float64(n.trials):
		return no
	case n.both >= MinSessions || n.strong == n.equal:
		return holds
	}
	return tooFew
}

// isIdentifying reports whether the values of a pair might be identifiers: one
// that is shown has three digits, and they differ between sessions.
func (c *consumer) isIdentifying(n *pair) bool {
	digits := 0
	for _, r := range n.example.Value {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	return digits >= 3
}

// compare orders the best first: what most sessions have, what came last before
// its consumer, what has one value rather than any of a list.
func (a candidate) compare(b candidate) int {
	return cmp.Or(
		-cmp.Compare(a.beyond(nil), b.beyond(nil)), -cmp.Compare(a.equal, b.equal), -cmp.Compare(a.latest, b.latest),
		cmp.Compare(a.producer.slot.Place.several(), b.producer.slot.Place.several()), a.producer.slot.compare(b.producer.slot),
	)
}

// several returns how many steps of a place stand for several values.
func (p Place) several() int {
	switch p.Kind { //nolint:exhaustive // the others have one value
	case HTMLForm, HTMLLink:
		return 1
	case JSON:
		n := 0
		for i := range len(p.Name) {
			if p.Name[i] == '*' {
				n++
			}
		}
		return n
	}
	return 0
}

// beyond returns how many sessions the pair is equal in beyond those covered.
func (n *pair) beyond(covered []uint64) int {
	fresh := 0
	for i, word := range n.covered {
		if i < len(covered) {
			word &^= covered[i]
		}
		fresh += bits.OnesCount64(word)
	}
	return fresh
}
