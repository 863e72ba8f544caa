// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestDrift holds that the Dates of many answers bound a clock to little more than
// an exchange takes, and that contradictions are none.
func TestDrift(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	began := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{0, 1300 * time.Millisecond, -40 * time.Second} {
		var d drift
		for i := range 2000 {
			started := began.Add(time.Duration(i) * 5 * time.Millisecond)
			wrote := started.Add(time.Duration(random.Int64N(int64(4 * time.Millisecond))))
			d.see(DateBounds(wrote.Add(ahead).Unix(), started, started.Add(4*time.Millisecond)))
		}
		c := d.clock()
		if want := ms(ahead); c == nil || c.LeastMS > want || c.MostMS < want || c.MostMS-c.LeastMS > 20 {
			t.Errorf("ahead by %v: got %+v", ahead, c)
		}
	}
	var d drift
	if d.clock() != nil {
		t.Error("a clock is known without a Date")
	}
	d.see(DateBounds(began.Unix(), began, began))
	d.see(DateBounds(began.Unix(), began.Add(time.Hour), began.Add(time.Hour))) // from a cache
	if c := d.clock(); c != nil {
		t.Errorf("got %+v of Dates that contradict one another", c)
	}
}

func TestClockInWords(t *testing.T) {
	for _, tc := range []struct {
		clock *Clock
		want  string
	}{
		{nil, ""},
		{&Clock{-900, 900}, ""},
		{&Clock{20, 40}, ""},
		{&Clock{-40, -20}, ""},
		{&Clock{1500, 1510}, "1.50 s ahead"},
		{&Clock{-1510, -1500}, "1.50 s behind"},
	} {
		if got := tc.clock.words(); got != tc.want {
			t.Errorf("%+v: got %q, want %q", tc.clock, got, tc.want)
		}
	}
}

// TestClocksOfShards holds that the machines that are the farthest apart are named,
// and only if they are so for certain.
func TestClocksOfShards(t *testing.T) {
	shards := func(clocks ...*Clock) (all []*Report) {
		for i, c := range clocks {
			all = append(all, &Report{Shard: &Shard{Index: i + 1, Count: len(clocks)}, Targets: []Target{{Clock: c}}})
		}
		return all
	}
	sum, err := Merge(shards(&Clock{-5, 5}, &Clock{300, 310}, nil, &Clock{-1000, -900}), []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (ClocksApart{Ahead: 4, Behind: 2, MS: 1200}); sum.ClocksApart == nil || *sum.ClocksApart != want {
		t.Errorf("got %+v, want %+v", sum.ClocksApart, want)
	}
	if got := sum.shards(); !strings.Contains(got, "shard 4's machine is at least 1.20 s ahead of that of shard 2's") {
		t.Errorf("got %q", got)
	}
	if sum.Targets[0].Clock != nil {
		t.Error("several machines have one clock")
	}
	if sum, err = Merge(shards(&Clock{-500, 500}, &Clock{300, 1300}), []string{"a", "b"}); err != nil || sum.ClocksApart != nil {
		t.Errorf("got %+v, %v", sum.ClocksApart, err)
	}
}
