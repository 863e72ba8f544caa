// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// warnOfBodies logs a warning for each outcome whose status has no body although
// the recipe has one.
func warnOfBodies(logger *zap.Logger, recipes recipe.List) {
	for _, r := range recipes {
		for i, stage := range r.Stages {
			for _, outcome := range stage.Outcomes {
				if r.HasSource() && !response.HasBody(outcome.Status) {
					logger.Warn("the body is not sent with this status",
						zap.String("route", r.Route), zap.Int("stage", i+1), zap.Int("status", outcome.Status))
				}
			}
		}
	}
}
