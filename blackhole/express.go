// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"context"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
)

// ServeExpress reads, records and answers a request of a connection that was
// taken over.
func (h *Handler) ServeExpress(x *express.Exchange) bool {
	h.requests.Inc()
	if err := h.readExpress(x); err != nil {
		x.Respond(http.StatusBadRequest, nil)
	} else {
		x.Respond(h.answer.status, &h.answer.express, h.answer.body)
	}
	return true
}

// readExpress takes in the whole request. What it waits for ends by itself, so
// that no context has to end it.
func (h *Handler) readExpress(x *express.Exchange) error {
	if h.recorder == nil || !h.sampled() {
		return x.Discard()
	}
	draft := h.recorder.Begin()
	defer draft.Release()
	record.DescribeExpress(draft, x)
	err := draft.ReadBody(context.Background(), x)
	if err != nil {
		draft.BrokeOff(err)
	}
	draft.Add(context.Background())
	return err
}
