// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
)

// subscribe has the handler told when its configuration comes into force, which
// validating one never does, and when Caddy exits.
func (h *Handler) subscribe(ctx caddy.Context) error {
	if err := lifecycle.OnStart(ctx, func() {
		h.begin()
		h.lookAround(ctx)
	}); err != nil {
		return err
	}
	return lifecycle.WatchExit(ctx)
}

func (h *Handler) begin() {
	if err := h.scenario.Begin(h.logger); err != nil {
		h.logger.Error("cannot begin the scenario again", zap.Error(err))
	}
}
