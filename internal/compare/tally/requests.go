// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import "github.com/caddy-rehearsal/rehearsal/internal/compare"

// maxRequests bounds the requests that are known again. Beyond it the oldest
// go that did not come again: what they counted stays, and if they do come
// again they count as another request.
const maxRequests = 1 << 14

// requests knows which requests were seen before, so that equal ones count
// once: as the majority of their pairs was.
type requests struct {
	index map[uint64]int32
	all   []request
	hand  int
}

// request counts the pairs of one request.
type request struct {
	key    uint64
	pairs  uint32
	again  bool
	fields []votes
}

// votes are how many pairs of a request differ in a field.
type votes struct {
	field                *field
	new, twin, generated uint32
}

// of returns the request of a key, and whether it was not known.
func (r *requests) of(key uint64) (*request, bool) {
	if i, ok := r.index[key]; ok {
		r.all[i].again = true
		return &r.all[i], false
	}
	if r.index == nil {
		r.index = make(map[uint64]int32)
	}
	if len(r.all) < maxRequests {
		r.index[key] = int32(len(r.all))
		r.all = append(r.all, request{key: key})
		return &r.all[len(r.all)-1], true
	}
	for r.all[r.hand].again {
		r.all[r.hand].again = false
		r.hand = (r.hand + 1) % maxRequests
	}
	q := &r.all[r.hand]
	delete(r.index, q.key)
	r.index[key] = int32(r.hand)
	r.hand = (r.hand + 1) % maxRequests
	*q = request{key: key, fields: q.fields[:0]}
	return q, true
}

// count counts one more pair of the request, and corrects what it has counted
// in its fields so far.
func (q *request) count(marks []mark) {
	for i := range q.fields {
		q.fields[i].apply(q.pairs, -1)
	}
	q.pairs++
	for i := range marks {
		m := &marks[i]
		v := q.votes(m.field)
		if m.diff != nil {
			v.new++
		}
		if m.noise {
			v.twin++
		}
		if m.generated != compare.NotGenerated {
			v.generated++
		}
	}
	for i := range q.fields {
		q.fields[i].apply(q.pairs, 1)
	}
}

func (q *request) votes(f *field) *votes {
	for i := range q.fields {
		if q.fields[i].field == f {
			return &q.fields[i]
		}
	}
	q.fields = append(q.fields, votes{field: f})
	return &q.fields[len(q.fields)-1]
}

// apply adds n times what a majority of the pairs found to the field's counts.
func (v *votes) apply(pairs uint32, n int64) {
	a, s := 2*v.new > pairs, 2*v.twin > pairs
	if a {
		v.field.A += n
	}
	if s {
		v.field.S += n
	}
	switch {
	case a && !s:
		v.field.B += n
	case s && !a:
		v.field.C += n
	}
	if a && !s && 2*v.generated > pairs {
		v.field.Generated.Requests += n
	}
}
