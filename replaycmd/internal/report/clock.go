// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"
)

// Clock is how far the clock of a target is ahead of the one of the machine that
// sent to it, by the Date fields of answers: between Least and Most, in
// milliseconds. Below 0 it is behind.
type Clock struct {
	LeastMS float64 `json:"least_ms"`
	MostMS  float64 `json:"most_ms"`
}

// drift are the bounds of a clock. A Date that was written between the start and
// the end of an exchange, and is of a whole second, bounds it to a second and the
// time of the exchange; many of them, to little more than the shortest exchange.
type drift struct {
	known       bool
	least, most time.Duration
}

// see narrows the bounds by what one answer says.
func (d *drift) see(least, most time.Duration) {
	if !d.known {
		*d = drift{true, least, most}
		return
	}
	d.least, d.most = max(d.least, least), min(d.most, most)
}

// clock returns the bounds, nil if there are none: no answer had a Date, or they
// contradict one another, as those of caches and of clocks that are set do.
func (d *drift) clock() *Clock {
	if !d.known || d.least > d.most {
		return nil
	}
	return &Clock{ms(d.least), ms(d.most)}
}

// DateBounds returns how far a server's clock is ahead at least and at most, if it
// wrote a Date, in seconds since 1970, between two moments.
func DateBounds(date int64, started, ended time.Time) (least, most time.Duration) {
	at := time.Unix(date, 0)
	return at.Sub(ended.Round(0)), at.Add(time.Second).Sub(started.Round(0)) // Round: by the wall clock
}

// Clocks that are so far apart are worth a word, in milliseconds.
const clocksApart = 50

// ahead returns how far the clock is off for certain, 0 if it may be right. Below
// 0 it is behind.
func (c *Clock) ahead() float64 {
	switch {
	case c == nil:
		return 0
	case c.LeastMS > 0:
		return c.LeastMS
	case c.MostMS < 0:
		return c.MostMS
	}
	return 0
}

// words returns how far off a clock is, empty if that is not worth a word.
func (c *Clock) words() string {
	off := c.ahead()
	switch {
	case off >= clocksApart:
		return duration(off) + " ahead"
	case off <= -clocksApart:
		return duration(-off) + " behind"
	}
	return ""
}

// ClocksApart is how far the clocks of two shards' machines are apart for
// certain: those of all shards that are the farthest apart.
type ClocksApart struct {
	Ahead  int     `json:"ahead"` // a shard
	Behind int     `json:"behind"`
	MS     float64 `json:"ms"`
}

// words continues a sentence about shards, where their clocks are far apart.
func (a *ClocksApart) words() string {
	if a == nil || a.MS < clocksApart {
		return ""
	}
	return fmt.Sprintf("; the clock of shard %d's machine is at least %s ahead of that of shard %d's", a.Ahead, duration(a.MS), a.Behind)
}

// mergeClocks compares the clocks of shards by that of each target, which is the
// same for all of them.
func mergeClocks(shards []*Report) *ClocksApart {
	var farthest *ClocksApart
	for target := range shards[0].Targets {
		for _, a := range shards {
			for _, b := range shards {
				x, y := a.Targets[target].Clock, b.Targets[target].Clock
				if x == nil || y == nil {
					continue
				}
				// The target is ahead of b by more than of a: then a is ahead of b.
				if by := y.LeastMS - x.MostMS; by > 0 && (farthest == nil || by > farthest.MS) {
					farthest = &ClocksApart{a.Shard.Index, b.Shard.Index, by}
				}
			}
		}
	}
	return farthest
}

// clockInsights returns in sentences which clocks are off.
func (r *Report) clockInsights() (all []string) {
	for i := range min(len(r.Targets), maxTargets) {
		if words := r.Targets[i].Clock.words(); words != "" {
			all = append(all, fmt.Sprintf("%s: its clock is at least %s of this machine's", label(r.Targets[i].Name), words))
		}
	}
	return all
}
