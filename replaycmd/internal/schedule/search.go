// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"strconv"
)

// Verdict is what became of a run at a rate.
type Verdict int

// The verdicts of Search.Try.
const (
	Held    Verdict = iota // all that is asked for holds
	Failed                 // something does not
	Limited                // something does not, and that may be for want of this machine's own speed
)

// Search finds the highest rate that holds: it doubles the rate until one fails,
// halves the interval between, and confirms what it has found.
type Search struct {
	// Start is the first rate, per second.
	Start float64
	// Try sends at a rate and returns what became of it.
	Try func(rate float64) (Verdict, error)
}

// Found is what a Search has found, in requests per second.
type Found struct {
	Rate float64 // the highest that held, twice; 0: none did
	// Above is the lowest rate above it that did not hold. 0: there is none.
	Above float64
	// Limited means that this machine could not send more than Rate, whatever the
	// target can.
	Limited bool
}

const (
	// searchWithin is how close the two ends of the interval are in the end.
	searchWithin = 1.025
	// maxTries bounds a search that goes to and fro.
	maxTries = 60
	// highestRate and lowestRate bound what is tried.
	highestRate, lowestRate = 1e6, 0.1
)

// Run searches. With an error of Try it returns what it has found until then.
func (s *Search) Run() (Found, error) {
	f := finding{Search: s, held: make(map[float64]int)}
	err := f.run()
	return Found{Rate: f.low, Above: f.high, Limited: f.limited}, err
}

// finding is a search that goes on.
type finding struct {
	*Search
	low, high float64         // the highest that held, and the lowest above that did not; 0: none
	held      map[float64]int // how often each rate held
	limited   bool            // what ended at high was this machine
	tries     int
}

func (f *finding) run() error {
	rate := f.Start
	for f.tries < maxTries {
		verdict, err := f.twice(rate)
		if err != nil {
			return err
		}
		f.note(rate, verdict)
		next, done := f.next()
		if done {
			return nil
		}
		rate = next
	}
	return nil
}

// twice tries a rate, and once more if it fails: one bad moment is none of the
// target's limits.
func (f *finding) twice(rate float64) (Verdict, error) {
	f.tries++
	verdict, err := f.Try(rate)
	if err != nil || verdict == Held {
		return verdict, err
	}
	f.tries++
	return f.Try(rate)
}

// note takes what became of a rate into the interval. One that held once and fails
// later on has not held.
func (f *finding) note(rate float64, verdict Verdict) {
	if verdict == Held {
		f.held[rate]++
		f.low = max(f.low, rate)
		return
	}
	delete(f.held, rate)
	f.high, f.limited = rate, verdict == Limited
	f.low = 0
	for held := range f.held {
		if held < rate {
			f.low = max(f.low, held)
		}
	}
}

// next returns the rate to try next, and whether there is nothing more to try.
func (f *finding) next() (rate float64, done bool) {
	switch {
	case f.high == 0 && f.low >= highestRate:
		return 0, f.confirmed()
	case f.high == 0:
		return min(2*f.low, highestRate), false
	case f.low == 0 && f.high/2 < lowestRate:
		return 0, true
	case f.low == 0:
		return f.high / 2, false
	case f.high/f.low > searchWithin:
		return rounded(math.Sqrt(f.low * f.high)), false
	}
	return f.low, f.confirmed()
}

// rounded returns a rate with four digits, which is closer than any search comes.
func rounded(rate float64) float64 {
	near, err := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 4, 64), 64)
	if err != nil { // of a number that was just written
		return rate
	}
	return near
}

// confirmed reports whether the rate that was found has held twice.
func (f *finding) confirmed() bool { return f.held[f.low] > 1 }
