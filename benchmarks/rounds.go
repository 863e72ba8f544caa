// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// contender is one side of a comparison.
type contender struct {
	name string
	load func(time.Duration) (turn, error)
	jit  bool // its code is compiled while it runs, so that it has to be warmed
}

// underWrk makes a contender of a server that wrk loads.
func (l *lab) underWrk(name string, w wrk, s *server, path string) contender {
	return contender{name: name, load: func(length time.Duration) (turn, error) { return w.run(l, s, s.url(path), length) }}
}

// compiled returns a contender that is warmed until its rate no longer rises.
func compiled(c contender) contender {
	c.jit = true
	return c
}

// How a contender is warmed whose code is compiled while it runs.
const (
	rises     = 1.02 // less than this is no rise
	flat      = 4    // turns in a row without one
	warmTurns = 40   // at most, for one that never settles
)

// warm loads a contender before the first round, and returns for how long.
func (l *lab) warm(c contender) (loaded time.Duration, err error) {
	if c.jit {
		if loaded, err = l.wake(c); err != nil {
			return loaded, err
		}
	}
	if !c.jit || l.short {
		length := min(l.turn, time.Second)
		_, err = c.load(length)
		return loaded + length, err
	}
	best := 0.0
	for turns, since := 0, 0; turns < warmTurns && since < flat; turns++ {
		t, err := c.load(l.turn)
		if err != nil {
			return loaded, err
		}
		loaded += l.turn
		since++
		if t.rate > best*rises {
			best, since = t.rate, 0
		}
	}
	return loaded, nil
}

// wake loads a contender until it answers at all, which with all connections at
// once may take code that nothing has compiled yet longer than a turn.
func (l *lab) wake(c contender) (loaded time.Duration, err error) {
	for range warmTurns {
		loaded += l.turn
		if _, err = c.load(l.turn); err == nil {
			break
		}
	}
	return loaded, err
}

// compare measures contenders and prints a row for each. Ratios are taken to the
// first one, which is the yardstick.
func (l *lab) compare(title string, contenders ...contender) error {
	turns, title, err := l.measure(title, contenders)
	if err == nil {
		l.print(title, contenders, turns)
	}
	return err
}

// measure runs every contender once a round, in turns, so that a machine that
// drifts hits all of them alike. It returns the turns by contender, and the title
// with how long those were warmed that need it.
func (l *lab) measure(title string, contenders []contender) ([][]turn, string, error) {
	for _, c := range contenders {
		loaded, err := l.warm(c)
		if err != nil {
			return nil, "", fmt.Errorf("warming %s: %v", c.name, err)
		}
		if c.jit {
			title += fmt.Sprintf("; %s warmed for %s", c.name, loaded)
		}
	}
	turns := make([][]turn, len(contenders))
	for range l.rounds {
		for i, c := range contenders {
			t, err := c.load(l.turn)
			if err != nil {
				return nil, "", fmt.Errorf("%s: %v", c.name, err)
			}
			turns[i] = append(turns[i], t)
		}
	}
	return turns, title, nil
}

func (l *lab) print(title string, contenders []contender, turns [][]turn) {
	fmt.Fprintf(l.out, "\n%s\n\n", title)
	fmt.Fprintln(l.out, "| contender | requests/s | × | CPU µs/request | × | p50 | p99 | memory | errors |")
	fmt.Fprintln(l.out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i, c := range contenders {
		rate := func(t turn) float64 { return t.rate }
		cpu := func(t turn) float64 { return t.cpu }
		fmt.Fprintf(l.out, "| %s | %.0f | %.2f | %.2f | %.2f | %s | %s | %s | %d |\n", c.name,
			median(turns[i], rate), ratio(turns[i], turns[0], rate),
			median(turns[i], cpu), ratio(turns[i], turns[0], cpu),
			short(median(turns[i], func(t turn) time.Duration { return t.p50 })),
			short(median(turns[i], func(t turn) time.Duration { return t.p99 })),
			mebibytes(median(turns[i], func(t turn) int64 { return t.memory })),
			sum(turns[i], func(t turn) int64 { return t.errors }))
	}
}

func median[T cmp.Ordered](turns []turn, of func(turn) T) T {
	values := make([]T, 0, len(turns))
	for _, t := range turns {
		values = append(values, of(t))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// ratio is the median of the rounds' ratios, which drifts less than the ratio
// of medians.
func ratio(turns, yardstick []turn, of func(turn) float64) float64 {
	ratios := make([]float64, 0, len(turns))
	for i := range turns {
		if base := of(yardstick[i]); base > 0 {
			ratios = append(ratios, of(turns[i])/base)
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func sum(turns []turn, of func(turn) int64) (total int64) {
	for _, t := range turns {
		total += of(t)
	}
	return total
}

func short(d time.Duration) string {
	digits := time.Microsecond
	if d >= 10*time.Millisecond {
		digits = 100 * time.Microsecond
	}
	return strings.Replace(d.Round(digits).String(), "µs", " µs", 1)
}

func mebibytes(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }
