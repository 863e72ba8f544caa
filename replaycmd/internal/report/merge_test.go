// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestMergedPercentilesAreThoseOfAll counts samples in 16 shards that began at
// different times, and in one run: the figures are the same, and those of the
// samples to a thousandth.
func TestMergedPercentilesAreThoseOfAll(t *testing.T) {
	const samples, shards = 200_000, 16
	began := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(3, 4))
	newRun := func() (*Collector, *Batch) {
		c := NewCollector(nil)
		return c, c.NewBatch()
	}
	whole, wholeBatch := newRun()
	var parts [shards]*Collector
	var batches [shards]*Batch
	for i := range parts {
		parts[i], batches[i] = newRun()
	}
	var latencies []time.Duration
	for i := range samples {
		k := random.IntN(shards)
		due := time.Duration(shards)*time.Second + time.Duration(random.Int64N(int64(100*time.Second)))
		latency := time.Duration(math.Exp(random.NormFloat64()) * float64(20*time.Millisecond)).Truncate(time.Microsecond)
		s := Sample{Due: due, Started: due, Ended: due + latency, Status: 200, Class: -1, Sent: 1}
		if i%100 == 0 {
			s.Status, s.Failure = 0, "reset"
		} else {
			latencies = append(latencies, latency)
		}
		wholeBatch.Add(s)
		later := time.Duration(k) * time.Second // this shard's clock begins later
		s.Due, s.Started, s.Ended = s.Due-later, s.Started-later, s.Ended-later
		batches[k].Add(s)
	}
	reportOf := func(c *Collector, started time.Time, shard *Shard) *Report {
		r, err := New(Facts{Started: started, Elapsed: 200 * time.Second, Classes: NewClasses(ByNothing), Shard: shard, RateAsked: 1600}, []Result{{Name: "a", Totals: c.Finish()}})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(data)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	want := reportOf(whole, began, nil)
	var all []*Report
	var names []string
	for i := range parts {
		all = append(all, reportOf(parts[i], began.Add(time.Duration(i)*time.Second), &Shard{Index: i + 1, Count: shards}))
		names = append(names, strconv.Itoa(i+1))
	}
	for _, r := range all {
		r.Targets[0].RateAsked /= shards
	}
	sum, err := Merge(all, names)
	if err != nil {
		t.Fatal(err)
	}
	a, b := sum.Targets[0], want.Targets[0]
	if a.Latency.Histogram != b.Latency.Histogram || a.Service.Histogram != b.Service.Histogram || a.Lateness.Histogram != b.Lateness.Histogram {
		t.Error("the histograms are not those of one run")
	}
	for _, figure := range []struct {
		name string
		a, b any
	}{
		{"requests", a.Requests, b.Requests},
		{"errors", a.Errors, b.Errors},
		{"p50", a.Latency.P50MS, b.Latency.P50MS},
		{"p99.9", a.Latency.P999MS, b.Latency.P999MS},
		{"mean", a.Latency.MeanMS, b.Latency.MeanMS},
		{"max", a.Latency.MaxMS, b.Latency.MaxMS},
		{"rate", fmt.Sprintf("%.3f", a.Rate), fmt.Sprintf("%.3f", b.Rate)},
		{"elapsed", math.Round(a.ElapsedMS), math.Round(b.ElapsedMS)},
		{"kinds", fmt.Sprint(a.ErrorsByKind), fmt.Sprint(b.ErrorsByKind)},
		{"asked", a.RateAsked, b.RateAsked},
		{"moments", len(a.Timeline), len(b.Timeline)},
	} {
		if figure.a != figure.b {
			t.Errorf("%s: %v of all shards, %v of one run", figure.name, figure.a, figure.b)
		}
	}
	for i := range min(len(a.Timeline), len(b.Timeline)) {
		x, err := json.Marshal(a.Timeline[i])
		if err != nil {
			t.Fatal(err)
		}
		if y, _ := json.Marshal(b.Timeline[i]); string(x) != string(y) {
			t.Errorf("moment %d: %s of all shards, %s of one run", i, x, y)
			break
		}
	}
	slices.Sort(latencies)
	for _, percent := range []float64{50, 90, 99, 99.9} {
		rank := int(math.Ceil(percent/100*float64(len(latencies)))) - 1
		got := float64(a.Latency.At(percent))
		if low, high := float64(latencies[rank-1]), float64(latencies[rank+1]); got < 0.999*low || got > 1.001*high {
			t.Errorf("p%v is %v, and exactly between %v and %v", percent, got, low, high)
		}
	}
}

// TestMergedCountsAreThoseOfAll has each count of two shards be 1: in what is added
// up each is 2.
func TestMergedCountsAreThoseOfAll(t *testing.T) {
	ones := func(of any) {
		for _, field := range reflect.ValueOf(of).Elem().Fields() {
			if field.CanSet() && field.Kind() == reflect.Int64 {
				field.SetInt(1)
			}
		}
	}
	var shards []*Report
	for i := range 2 {
		moment, class, link, target := Moment{StatusClasses: map[string]int64{"2xx": 1}}, Class{Name: "/"}, Link{}, Target{}
		for _, of := range []any{&moment, &class, &link, &target} {
			ones(of)
		}
		moment.Second = 0
		target.Timeline, target.By, target.Links = []Moment{moment}, []Class{class}, []Link{link}
		shards = append(shards, &Report{
			Shard: &Shard{Index: i + 1, Count: 2}, Targets: []Target{target},
			Stale: []Stale{{"Digest", 1}, {[]string{"Signature", "X-Hub-Signature"}[i], 1}},
		})
	}
	sum, err := Merge(shards, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	target := &sum.Targets[0]
	for _, of := range []any{&target.Timeline[0], &target.By[0], &target.Links[0], target} {
		value := reflect.ValueOf(of).Elem()
		for kind, field := range value.Fields() {
			if kind.Type.Kind() == reflect.Int64 && kind.Name != "Second" && kind.Name != "TimelineSeconds" && field.Int() != 2 {
				t.Errorf("%s of %s is %d, want 2", kind.Name, value.Type(), field.Int())
			}
		}
	}
	if want := []Stale{{"Digest", 2}, {"Signature", 1}, {"X-Hub-Signature", 1}}; !slices.Equal(sum.Stale, want) {
		t.Errorf("stale are %v, want %v", sum.Stale, want)
	}
}

// TestDamagedCountsOfShards are refused, without a list of all that would be missing.
func TestDamagedCountsOfShards(t *testing.T) {
	for count, want := range map[int]string{
		math.MaxInt32: "one is of shard 1 of 2147483647, which is none",
		0:             "one is of shard 1 of 0, which is none",
		65_535:        "of 65,535 shards the report of 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, and 65514 more is missing",
	} {
		_, err := Merge([]*Report{{Shard: &Shard{Index: 1, Count: count}}}, []string{"one"})
		if err == nil || err.Error() != want {
			t.Errorf("%d: got %.200v\nwant %s", count, err, want)
		}
	}
}
