// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// service is one member of a service's responses, in two versions: in a share
// of the responses it is noisy, and for a share of the requests the new
// version has another value.
type service struct {
	noise, change float64
	random        *rand.Rand
}

func (s *service) value(request int, changed bool) uint64 {
	if s.random.Float64() < s.noise {
		return 2 + s.random.Uint64N(1e6)
	}
	if changed && s.changes(request) {
		return 1
	}
	return 0
}

// changes reports whether the new version has another value for a request:
// the same each time it is asked.
func (s *service) changes(request int) bool {
	return rand.New(rand.NewPCG(uint64(request), 7)).Float64() < s.change
}

var (
	equal     = &compare.Result{}
	different = &compare.Result{Differences: []compare.Difference{{Field: "$.member", Kind: compare.Changed, Old: []byte("0"), New: []byte("1")}}}
)

func result(a, b uint64) *compare.Result {
	if a == b {
		return equal
	}
	return different
}

// round asks old, new and old once more.
func (s *service) round(request int) (diff, noise *compare.Result) {
	old, new, twin := s.value(request, false), s.value(request, true), s.value(request, false)
	return result(old, new), result(old, twin)
}

// outcome is what one run has found.
type outcome struct {
	found, diffy bool
	again        int // requests asked again
}

// run compares a number of pairs, all of other requests.
func (s *service) run(pairs, seed int) outcome {
	s.random = rand.New(rand.NewPCG(uint64(seed), 1))
	t := tally.New(tally.Options{Noise: true})
	raw, noisy := 0, 0
	for i := range pairs {
		request := seed*pairs + i
		id := strconv.Itoa(request)
		diff, noise := s.round(request)
		t.Add(&tally.Pair{
			ID: id, Method: []byte("GET"), Target: []byte("/items/" + id),
			Old: &compare.Response{Status: 200}, New: &compare.Response{Status: 200}, Diff: diff, Noise: noise,
		})
		raw += len(diff.Differences)
		noisy += len(noise.Differences)
	}
	o := outcome{diffy: diffyCalls(raw, noisy, pairs)}
	c := t.Confirm(uint64(seed))
	for asks := c.Next(); len(asks) > 0; asks = c.Next() {
		o.again = max(o.again, len(asks))
		for _, ask := range asks {
			request, _ := strconv.Atoi(ask.ID)
			for range ask.Rounds {
				diff, noise := s.round(request)
				c.Record(ask.ID, diff, noise)
			}
		}
	}
	o.found = t.Table().Diffs() > 0
	return o
}

// diffyCalls is Diffy's rule: more differences than noise, by shares of both.
func diffyCalls(raw, noise, pairs int) bool {
	apart := float64(raw - noise)
	return apart > 0 && apart/float64(raw+noise) > 0.2 && apart/float64(pairs) > 0.0003
}

// differencesBesideNoise simulates how often a changed field is found, and an
// unchanged one is taken for changed, by our rules and by Diffy's.
func differencesBesideNoise(l *lab) error {
	runs := 1000
	if l.short {
		runs = 20
	}
	fmt.Fprintf(l.out, "\n%d simulated runs a row; a member that is noisy in a share of the responses, and changed for a share of the requests\n\n", runs)
	fmt.Fprintln(l.out, "| noisy | changed | pairs | called different | Diffy's rule | requests asked again, median and most |")
	fmt.Fprintln(l.out, "|--:|--:|--:|--:|--:|--:|")
	for _, s := range []service{{noise: 0.15}, {noise: 0.025}, {noise: 1}, {noise: 0.15, change: 0.01}, {noise: 0.025, change: 0.01}, {change: 0.01}, {noise: 0.15, change: 0.2}} {
		for _, pairs := range []int{20, 100, 1000} {
			found, diffy := 0, 0
			again := make([]int, 0, runs)
			for seed := range runs {
				o := s.run(pairs, seed)
				if o.found {
					found++
				}
				if o.diffy {
					diffy++
				}
				again = append(again, o.again)
			}
			slices.Sort(again)
			fmt.Fprintf(l.out, "| %.3g%% | %.3g%% | %d | %s | %s | %d, %d |\n", 100*s.noise, 100*s.change, pairs,
				percent(found, runs), percent(diffy, runs), again[runs/2], again[runs-1])
		}
	}
	return nil
}

func percent(n, of int) string {
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 1, 64) + "%"
}
