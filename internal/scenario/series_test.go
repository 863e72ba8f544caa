// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// seriesOf counts the metrics that there are of a simulator, and gives how many
// answers they tell of a route.
func seriesOf(t *testing.T, simulator, route string) (n int, answers float64) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(Collectors()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make(map[string]string)
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["simulator"] != simulator {
				continue
			}
			n++
			if labels["route"] == route {
				answers += metric.GetCounter().GetValue()
			}
		}
	}
	return n, answers
}

// TestMetricsEndWithTheirRoutes holds that routes that come and go leave nothing
// behind, and that what counts on in the next configuration does so.
func TestMetricsEndWithTheirRoutes(t *testing.T) {
	name := fmt.Sprint(t.Name(), time.Now().UnixNano())
	begin := func(recipes string) *Scenario {
		s, err := New(name, parse(t, recipes), Defaults{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const recipes = `{"route":"/a","stages":[{"status":503}]}`
	old := begin(recipes)
	ask(t, old, "/a")
	few, _ := seriesOf(t, name, "")
	for i := range 20 {
		if err := old.Add(t.Context(), parse(t, fmt.Sprintf(`{"route":"/%d","stages":[{}]}`, i))); err != nil {
			t.Fatal(err)
		}
		old.Outside(fmt.Sprint("mapping ", i), 404).Release()
	}
	if n, _ := seriesOf(t, name, ""); n <= few {
		t.Errorf("there are %d metrics of 21 routes", n)
	}
	if err := old.Restart(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if n, answers := seriesOf(t, name, "/a"); n != few || answers != 1 {
		t.Errorf("after a restart there are %d metrics instead of %d, and %v answers", n, few, answers)
	}
	kept, gone := old.Outside("kept", 200), old.Outside("gone", 200)
	gone.Count(0)
	again := old.Outside("kept", 200)
	kept.Release()
	gone.Release()
	if all, byName := old.Counted(); len(byName) != 2 || all.Total() != 2 {
		t.Errorf("got %v and %v", all, byName)
	}
	next := begin(`[` + recipes + `,{"route":"/b","stages":[{}]}]`)
	again.Release()
	if err := old.Destruct(); err != nil {
		t.Fatal(err)
	}
	ask(t, next, "/a")
	if _, answers := seriesOf(t, name, "/a"); answers != 2 {
		t.Errorf("after a reload: %v answers", answers)
	}
	next.Forget()
	if err := next.Destruct(); err != nil {
		t.Fatal(err)
	}
	old.NotSet("/", "")
	if n, _ := seriesOf(t, name, ""); n != 0 {
		t.Errorf("%d metrics are left behind", n)
	}
	if err := old.Add(t.Context(), parse(t, recipes)); err == nil {
		t.Error("recipes were added to a scenario that has ended")
	}
}
