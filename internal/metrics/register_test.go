// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func counter(label string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "caddy_test_things_total", Help: "Things."}, []string{label})
}

func TestRegisterOnEveryLoad(t *testing.T) {
	things := counter("name")
	for load := range 3 {
		registry := prometheus.NewPedanticRegistry()
		for range 2 { // two handlers in one configuration
			if err := Register(registry, things); err != nil {
				t.Fatalf("load %d: %v", load, err)
			}
		}
		things.WithLabelValues("a").Inc()
		if n, err := testutil.GatherAndCount(registry, "caddy_test_things_total"); err != nil || n != 1 {
			t.Fatalf("load %d: %d series, error %v", load, n, err)
		}
	}
	if got := testutil.ToFloat64(things.WithLabelValues("a")); got != 3 {
		t.Errorf("counted %v over three loads, want 3", got)
	}
}

func TestRegisterRefusesAnotherCollectorOfTheName(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	if err := Register(registry, counter("name")); err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"name", "other"} {
		if err := Register(registry, counter(label)); err == nil {
			t.Errorf("a second collector with label %s was accepted", label)
		}
	}
}
