// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
)

// exiting is closed when Caddy is about to exit. A configuration that is only
// replaced does not close it.
var (
	exiting  = make(chan struct{})
	sayExits = sync.OnceFunc(func() { close(exiting) })
)

// subscribe has the handler told when its configuration comes into force, which
// validating one never does, and when it ends.
func (h *Handler) subscribe(ctx caddy.Context) error {
	app, err := ctx.App("events")
	if err != nil {
		return err
	}
	for name, do := range map[string]func(){"started": h.begin, "stopping": noticeExit} {
		if err := app.(*caddyevents.App).On(name, onEvent(do)); err != nil {
			return err
		}
	}
	return nil
}

func (h *Handler) begin() {
	if err := h.scenario.Begin(h.logger); err != nil {
		h.logger.Error("cannot begin the scenario again", zap.Error(err))
	}
}

func noticeExit() {
	if caddy.Exiting() {
		sayExits()
	}
}

// onEvent is what to do at an event.
type onEvent func()

// Handle does it.
func (do onEvent) Handle(context.Context, caddy.Event) error {
	do()
	return nil
}

// Interface guard
var _ caddyevents.Handler = onEvent(nil)
