// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Closest returns, for people, that nothing matched a request, which mapping came
// closest and in what the request differs from it.
func (s *Set) Closest(r *Request) string {
	r.split()
	var out strings.Builder
	fmt.Fprintf(&out, "No mapping matches %s %s\n", r.Method, r.url)
	var closest *Mapping
	var least float64
	for _, rank := range s.near(r) {
		m := s.mappings[rank]
		if d := s.distance(m, r); closest == nil || d < least {
			closest, least = m, d
		}
		if r.failed != nil { // it costs too much to go on
			break
		}
	}
	if closest == nil {
		return out.String()
	}
	fmt.Fprintf(&out, "\nThe closest is '%s' in %s:\n", closest.Name(), closest.file)
	for _, d := range closest.differences(r) {
		fmt.Fprintf(&out, "  %s: expected %s, got %s\n", d.what, d.expected, shortened(d.got))
	}
	if !s.allows(closest) {
		fmt.Fprintf(&out, "  scenario '%s': expected the state %s, it is in %s\n",
			closest.step.scenario, closest.step.required, *s.states[closest.step.scenario].Load())
	}
	return out.String()
}

// distance is that of a mapping, with that of its scenario's state.
func (s *Set) distance(m *Mapping, r *Request) float64 {
	d := m.distance(r)
	if !s.allows(m) {
		d += 0.5
	}
	return d
}

// Near is a mapping that does not match a request, and how far it is from it: from
// 0, which is no difference, to 1.
type Near struct {
	*Mapping
	Distance float64
}

// Nearest returns the mappings that are nearest to a request, at most so many. The
// error is that of reading the body, or ErrTooMuch.
func (s *Set) Nearest(r *Request, most int) ([]Near, error) {
	r.split()
	ranks := s.near(r)
	list := make([]Near, 0, len(ranks))
	for _, rank := range ranks {
		d := s.distance(s.mappings[rank], r)
		if r.failed != nil {
			return nil, r.failed
		}
		list = append(list, Near{s.mappings[rank], d / (d + 1)})
	}
	slices.SortStableFunc(list, func(a, b Near) int { return cmp.Compare(a.Distance, b.Distance) })
	return list[:min(most, len(list))], nil
}

// Distance returns how far the mapping is from a request: from 0 to 1. The error is
// that of reading the body, or ErrTooMuch.
func (m *Mapping) Distance(r *Request) (float64, error) {
	r.split()
	d := m.distance(r)
	return d / (d + 1), r.failed
}

// Meets reports whether a request meets the conditions of the mapping, whatever
// its scenario. The error is that of reading the body, or ErrTooMuch.
func (m *Mapping) Meets(r *Request) (bool, error) {
	r.split()
	met := m.matches(r)
	return met && r.failed == nil, r.failed
}

// distance grows with everything in which a request differs: most with the
// URL, the more so the earlier it does. The body is looked at only if the URL
// is right.
func (m *Mapping) distance(r *Request) float64 {
	d := 0.0
	body := m.body
	if !m.url.matches(r) {
		d += 1 + 3*(1-m.url.likeness(r))
		body = nil
	}
	if !m.matchesMethod(r.Method) {
		d += 1.5
	}
	for i := range m.named {
		if !m.named[i].matches(r) {
			d++
		}
	}
	for _, p := range body {
		if !r.meets(p, r.bodyValue()) {
			d++
		}
	}
	if body != nil || m.body == nil {
		for _, p := range m.parts {
			if !p.matches(r) {
				d++
			}
		}
	}
	return d
}

// likeness returns which share of the URL is as expected, from its beginning.
func (u *urlMatcher) likeness(r *Request) float64 {
	expected, got := u.text, u.subject(r)
	same := 0
	for same < len(expected) && same < len(got) && expected[same] == got[same] {
		same++
	}
	return float64(same) / float64(max(len(expected), len(got), 1))
}

type difference struct{ what, expected, got string }

func (m *Mapping) differences(r *Request) []difference {
	var list []difference
	if !m.matchesMethod(r.Method) {
		list = append(list, difference{"request.method", m.method, r.Method})
	}
	if !m.url.matches(r) {
		list = append(list, difference{"request." + m.url.kind, m.url.text, m.url.subject(r)})
	}
	for i := range m.named {
		if c := &m.named[i]; !c.matches(r) {
			list = append(list, difference{c.path, c.String(), c.found(r)})
		}
	}
	for i, p := range m.body {
		if v := r.bodyValue(); !r.meets(p, v) {
			got := "no body"
			if v.present {
				got = "'" + v.text + "'"
			}
			list = append(list, difference{fmt.Sprintf("request.bodyPatterns[%d]", i), p.String(), got})
		}
	}
	for i, p := range m.parts {
		if !p.matches(r) {
			got := "no parts"
			if n := len(r.bodyParts()); n > 0 {
				got = fmt.Sprintf("%d parts, of which none is so", n)
			}
			list = append(list, difference{fmt.Sprintf("request.multipartPatterns[%d]", i), p.String(), got})
		}
	}
	return list
}

// shortened keeps a large body out of the text.
func shortened(text string) string {
	const longest = 200
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + fmt.Sprintf("… (%d bytes)", len(text))
}

// mostNear and mostNeighbours bound what an unmatched request costs, however
// many mappings there are.
const (
	mostNear       = 64 // whose URL may match
	mostNeighbours = 16 // before and as many after the place of a URL in their order
)

// near chooses, in their order, the mappings that may be the closest: those
// whose URL may match, and those whose URL begins like the request's.
func (s *Set) near(r *Request) []int {
	chosen := make([]int, 0, mostNear+2*mostNeighbours)
	for _, list := range s.candidates(r, nil) {
		chosen = append(chosen, list[:min(len(list), mostNear-len(chosen))]...)
	}
	place, _ := slices.BinarySearchFunc(s.byURL, r.url, func(rank int, url string) int {
		return cmp.Compare(s.mappings[rank].url.text, url)
	})
	first, end := max(place-mostNeighbours, 0), min(place+mostNeighbours, len(s.byURL))
	chosen = append(chosen, s.byURL[first:end]...)
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// sortedByURL returns the places of mappings in the order of their URLs: next to
// a text in it are those with which it shares the longest beginning.
func sortedByURL(mappings []*Mapping) []int {
	order := make([]int, len(mappings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(mappings[a].url.text, mappings[b].url.text)
	})
	return order
}
