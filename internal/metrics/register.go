// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics registers collectors that outlive a configuration.
//
// Caddy makes a new registry for every load. A package keeps its vectors as
// variables, so that they count on, and registers them again on every load.
package metrics

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register adds the collectors to a load's registry. That another handler of
// the same configuration has done so already is no error; that some other
// collector took the name is.
func Register(registry *prometheus.Registry, collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		err := registry.Register(c)
		if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok && already.ExistingCollector == c {
			continue
		}
		if err != nil {
			return fmt.Errorf("registering metrics: %v", err)
		}
	}
	return nil
}
