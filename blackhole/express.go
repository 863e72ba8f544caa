// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"context"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// ServeExpress reads, records and answers a request of a connection that was
// taken over.
func (h *Handler) ServeExpress(x *express.Exchange) bool {
	h.metrics.requests.Inc()
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
	describeExchange(draft, x)
	err := draft.ReadBody(context.Background(), x)
	if err != nil {
		draft.BrokeOff(err)
	}
	draft.Add(context.Background())
	return err
}

// describeExchange fills the draft like describe, but knows the order of the
// header fields, except of the first request: that came through Caddy.
func describeExchange(d *recorder.Draft, x *express.Exchange) {
	d.TimeNS = x.Started.UnixNano()
	d.Method = d.Text(x.Method)
	d.Host = d.Text(x.Host)
	d.Proto = d.Text("HTTP/1.1")
	d.Remote = d.Text(x.Remote)
	d.Scheme = d.Text("http")
	if x.TLS != nil {
		d.Scheme = d.Text("https")
	}
	identify(d, x.Target, x.Get("X-Original-URI"), x.Get("X-Request-ID"))
	d.AddField("Host", x.Host)
	for _, field := range x.Fields {
		if field.Is("Host") {
			continue
		}
		d.AddField(field.Name, field.Value)
	}
}
