// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const (
	maxShapes  = 20_000   // kinds of paths that are told apart before they are put together
	maxRoutes  = 500      // of a model
	maxSamples = 2_000    // exchanges of a kind from which its key is found
	maxSampled = 64 << 20 // bytes of the samples of all kinds, about
)

// Survey is the first reading of a recording.
type Survey struct {
	shapes  map[shape]*group
	many    []pattern // templates that paths were put together to, so far
	most    int       // samples that a kind may have
	sampled int       // bytes of all samples
	seen    int64
	next    int64 // when it is worth it to put shapes together again
	without int64 // exchanges that have no response
	crowded int64 // that no kind could be kept for
}

// shape is method and path of requests of one kind, parameters as stars.
type shape struct{ method, path string }

// group is what was seen of a shape.
type group struct {
	n       int64
	samples []sample
	stride  int64 // every how manyth exchange is sampled
}

// NewSurvey returns a survey that has seen nothing.
func NewSurvey() *Survey { return &Survey{shapes: make(map[shape]*group), most: maxSamples} }

// Add takes an exchange in. Those without a response are counted only.
func (s *Survey) Add(r *recording.Request) {
	s.seen++
	if r.Response == nil {
		s.without++
		return
	}
	kind := shape{string(r.Method), shapeOf(r.URI)}
	g := s.group(&kind)
	if g == nil && len(s.shapes) >= maxShapes && s.seen >= s.next {
		s.merge()
		if len(s.shapes) > maxShapes/2 {
			s.next = 2 * s.seen // it would be the same again
		}
		g = s.group(&kind)
	}
	if g == nil {
		if len(s.shapes) >= maxShapes {
			s.crowded++
			return
		}
		g = &group{stride: 1}
		s.shapes[kind] = g
	}
	s.sample(g, r)
}

// sample may add an exchange to the samples of its kind. When there are too many
// of all kinds, those that have most lose every second one.
func (s *Survey) sample(g *group, r *recording.Request) {
	g.n++
	if g.n%g.stride != 0 {
		return
	}
	one := sampleOf(r)
	g.samples = append(g.samples, one)
	s.sampled += one.size()
	if len(g.samples) >= s.most {
		s.sampled -= g.halve()
	}
	for s.sampled > maxSampled && s.most > 2 {
		s.most /= 2
		for _, g := range s.shapes {
			for len(g.samples) >= s.most {
				s.sampled -= g.halve()
			}
		}
	}
}

// group returns what was seen of a shape, or of the one that it was put together
// to; nil if there is none.
func (s *Survey) group(kind *shape) *group {
	if g := s.shapes[*kind]; g != nil {
		return g
	}
	for _, p := range s.many {
		if p.method == kind.method && p.matches(kind.path) {
			kind.path = p.path
			return s.shapes[*kind]
		}
	}
	return nil
}

// halve keeps every second sample, so that they are spread over the recording,
// and returns how many bytes those had that are gone.
func (g *group) halve() (freed int) {
	kept := make([]sample, 0, cap(g.samples)/2)
	for i := range g.samples {
		if i%2 == 1 {
			kept = append(kept, g.samples[i])
		} else {
			freed += g.samples[i].size()
		}
	}
	g.samples = kept
	g.stride *= 2
	return freed
}

// merge puts shapes together that differ in a segment which is one of many.
func (s *Survey) merge() {
	top := make(map[string]*node)
	for kind, g := range s.shapes {
		n := top[kind.method]
		if n == nil {
			n = new(node)
			top[kind.method] = n
		}
		n.insert(strings.Split(kind.path, "/"), g.n)
	}
	merged := make(map[shape]*group)
	s.many = nil
	for _, method := range slices.Sorted(maps.Keys(top)) {
		top[method].generalize()
	}
	for _, kind := range slices.SortedFunc(maps.Keys(s.shapes), compareShapes) {
		path := strings.Join(top[kind.method].template(strings.Split(kind.path, "/")), "/")
		into := shape{kind.method, path}
		if other := merged[into]; other != nil {
			s.sampled -= other.absorb(s.shapes[kind], s.most)
		} else {
			merged[into] = s.shapes[kind]
		}
	}
	s.shapes = merged
	for _, kind := range slices.SortedFunc(maps.Keys(merged), compareShapes) {
		if strings.Contains(kind.path, "*") {
			s.many = append(s.many, pattern(kind))
		}
	}
	slices.SortStableFunc(s.many, func(a, b pattern) int { return cmp.Compare(strings.Count(a.path, "*"), strings.Count(b.path, "*")) })
}

// absorb takes what was seen of another shape, one exchange as often as another,
// and returns how many bytes of samples are gone.
func (g *group) absorb(other *group, most int) (freed int) {
	g.n += other.n
	for g.stride < other.stride {
		freed += g.halve()
	}
	for other.stride < g.stride {
		freed += other.halve()
	}
	g.samples = append(g.samples, other.samples...)
	for len(g.samples) >= most {
		freed += g.halve()
	}
	return freed
}

func compareShapes(a, b shape) int {
	return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
}

// Plan returns the routes that were found, most of the requests first where
// there are too many.
func (s *Survey) Plan() (*Plan, error) {
	if s.seen == 0 {
		return nil, errNoRecords
	}
	if s.without == s.seen {
		return nil, errNoResponses(s.seen)
	}
	s.merge()
	kinds := slices.SortedFunc(maps.Keys(s.shapes), func(a, b shape) int {
		return cmp.Or(cmp.Compare(s.shapes[b].n, s.shapes[a].n), compareShapes(a, b))
	})
	p := &Plan{Without: s.without, LeftOut: s.crowded}
	for i, kind := range kinds {
		if i >= maxRoutes {
			p.LeftOut += s.shapes[kind].n
			continue
		}
		k := &kindPlan{pattern: pattern(kind), key: findKey(s.shapes[kind].samples)}
		k.choose(s.shapes[kind].samples)
		p.kinds = append(p.kinds, k)
	}
	slices.SortFunc(p.kinds, func(a, b *kindPlan) int {
		return cmp.Or(cmp.Compare(strings.Count(a.pattern.path, "*"), strings.Count(b.pattern.path, "*")), compareShapes(shape(a.pattern), shape(b.pattern)))
	})
	p.index()
	return p, nil
}
