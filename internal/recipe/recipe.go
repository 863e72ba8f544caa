// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package recipe is the language that scenarios are written in: what a recipe
// may say, its JSON, and what is wrong with one.
//
// A recipe describes how one route of an origin behaves over time. It is the JSON
// of origin_simulator, with further words.
package recipe

import (
	"fmt"
	"strconv"
	"time"
)

// DefaultRoute is the route of a recipe that names none: every path.
const DefaultRoute = "/*"

// Recipe is how one route of the origin behaves.
type Recipe struct {
	// The request paths that the recipe answers: one path like `/news/sport`,
	// or all that begin with what stands before a final star, like `/news*`.
	// Default: `/*`.
	Route string `json:"route,omitempty"`

	// The URL whose content is served. It is fetched once, with a limit of 10
	// seconds and 64 MiB, and keeps its Content-Type.
	Origin string `json:"origin,omitempty"`

	// The content itself. `<<256kb>>` in it becomes random text of that size.
	Body *string `json:"body,omitempty"`

	// The file that holds the content. It is served as it is.
	BodyFile string `json:"body_file,omitempty"`

	// The size of random content, `428kb`, or the range that the size of each
	// response is drawn from, `300kb..400kb`.
	RandomContent *SizeRange `json:"random_content,omitempty"`

	// Header fields of every response, as an object of one value or a list of
	// values each. `content-encoding: gzip` has the content gzipped.
	Headers Headers `json:"headers,omitempty"`

	// What happens when. At least one stage; sorted by their times.
	Stages []Stage `json:"stages"`

	// Begins the recipe again: after a period like `60s`, or, if it is true, when
	// the last stage has lasted as long as the one before it. Default: the last
	// stage stays.
	Loop *Loop `json:"loop,omitempty"`

	// When the clock is at 0, in the form of RFC 3339. Simulators on several
	// machines keep one clock by it. Default: when the recipe was loaded.
	Start *time.Time `json:"start,omitempty"`

	// Makes all random choices the same in every run: a whole number below 2^53.
	// Default: every run differs.
	Seed *uint64 `json:"seed,omitempty"`

	written []byte // the JSON that the recipe was read from
}

// Stage is how a route behaves from one moment on.
type Stage struct {
	// When the stage begins: the time since the recipe started, as text like
	// `4s` or a number of milliseconds. Default: 0.
	At Offset `json:"at"`

	// What may become of a request, tried in the order given: at most 100. An
	// outcome has a condition, `first` or `percent`, or is the last one, which is
	// for the rest. Without a rest, the rest gets a plain 200. A single outcome
	// can be written without the list: its fields beside `at`.
	Outcomes []Outcome `json:"outcomes"`

	listed bool // whether the outcomes were read from a list, also a single one
}

// Timeline returns the times at which the stages begin, in their order.
func (r *Recipe) Timeline() []time.Duration {
	times := make([]time.Duration, len(r.Stages))
	for i, stage := range r.Stages {
		times[i] = time.Duration(stage.At)
	}
	return times
}

// LargestSeed is the largest seed. Caddy reads its configuration with numbers of
// 53 bits, so that a larger one would become another on its way.
const LargestSeed = 1<<53 - 1

const seedKind = "a whole number up to 9007199254740991"

// ParseSeed reads a seed from text.
func ParseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("'%s' is not %s", text, seedKind)
	}
	return seed, CheckSeed(&seed)
}

// CheckSeed refuses a seed that is there and too large.
func CheckSeed(seed *uint64) error {
	if seed != nil && *seed > LargestSeed {
		return fmt.Errorf("%d is not %s", *seed, seedKind)
	}
	return nil
}
