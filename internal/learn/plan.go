// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

var errNoRecords = errors.New("nothing to learn from: there are no records")

func errNoResponses(n int64) error {
	return fmt.Errorf("nothing to learn from: none of the %d records has a response; a tee with record keeps them, a blackhole does not", n)
}

// Plan is which routes a model will have.
type Plan struct {
	Without int64 // exchanges that have no response
	LeftOut int64 // exchanges of kinds that there were too many of

	kinds   []*kindPlan
	byShape map[shape]*kindPlan
}

// kindPlan is requests of one kind, and what tells them apart.
type kindPlan struct {
	pattern  pattern
	key      []Place
	variants []string // joined values that have a route of their own
}

func (p *Plan) index() {
	p.byShape = make(map[shape]*kindPlan, len(p.kinds))
	for _, k := range p.kinds {
		p.byShape[shape(k.pattern)] = k
	}
}

// find returns the kind of a request, nil if it is of none.
func (p *Plan) find(r *recording.Request) *kindPlan {
	kind := shape{string(r.Method), shapeOf(r.URI)}
	if k := p.byShape[kind]; k != nil {
		return k
	}
	for _, k := range p.kinds {
		if k.pattern.method == kind.method && k.pattern.matches(kind.path) {
			return k
		}
	}
	return nil
}

// choose takes the values of the key that are frequent enough for a route.
func (k *kindPlan) choose(samples []sample) {
	if len(k.key) == 0 {
		return
	}
	keys := make([]string, len(samples))
	for _, place := range k.key {
		keys = with(samples, keys, place)
	}
	n := countOf(keys)
	values := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b)) })
	for _, value := range values {
		if n[value] >= leastVariant && len(k.variants) < maxVariants && !strings.Contains(value, "\x00") {
			k.variants = append(k.variants, value)
		}
	}
	slices.Sort(k.variants)
	if len(k.variants) == 0 {
		k.key = nil
	}
}

// variant returns the values by which a request has a route of its own, "" if it
// has none.
func (k *kindPlan) variant(r *recording.Request) string {
	if len(k.key) == 0 {
		return ""
	}
	values := placesOf(r)
	joined := ""
	for _, place := range k.key {
		found := false
		for _, v := range values {
			if v.at == place {
				joined, found = joined+"\x01"+v.value, true
				break
			}
		}
		if !found {
			return ""
		}
	}
	if slices.Contains(k.variants, joined) {
		return joined
	}
	return ""
}
