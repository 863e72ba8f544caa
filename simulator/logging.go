// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// debug logs what was decided for a request, at the debug level.
func (h *Handler) debug(method, uri string, a *response.Response) {
	if c := h.logger.Check(zapcore.DebugLevel, "answering"); c != nil {
		c.Write(zap.String("method", method), zap.String("uri", uri),
			zap.Int("status", a.Status), zap.Object("simulator", decisionOf(a)))
	}
}

// decision is what the log tells of an answer. It is a copy, so that an answer
// that nothing logs stays off the heap.
type decision struct {
	route   string
	stage   int
	branch  int
	latency time.Duration
	fault   response.Fault
}

func decisionOf(a *response.Response) decision {
	return decision{a.Route, a.Stage, a.Branch, a.Latency, a.Fault}
}

// MarshalLogObject writes it.
func (d decision) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("route", d.route)
	enc.AddInt("stage", d.stage)
	enc.AddInt("branch", d.branch)
	enc.AddDuration("latency", d.latency)
	if d.fault != response.NoFault {
		enc.AddString("fault", string(d.fault))
	}
	return nil
}
