// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ServeHTTP copies and records the request if it is among those chosen, and lets
// the primary serve it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if path, ok := h.adminPath(r); ok {
		return h.serveAdmin(w, r, path)
	}
	if !h.sampler.wants(r) {
		return next.ServeHTTP(w, r)
	}
	target := rawTarget(r)
	reason := h.refuse(r, target)
	recorded := h.recorder != nil && recordable(reason)
	if (reason == none || recorded) && !h.sampler.allows() {
		reason, recorded = droppedRate, false
	}
	if reason != none {
		h.drop(reason)
		if !recorded {
			return next.ServeHTTP(w, r)
		}
		return h.serveWatched(w, r, next, nil, nil)
	}
	copied := h.snapshot(r, target)
	old := h.compares(copied, r)
	if !h.complete(r) {
		return h.serveWatched(w, r, next, copied, old)
	}
	h.send(copied)
	if recorded || old != nil {
		return h.serveWatched(w, r, next, nil, old)
	}
	return h.servePrimary(w, r, next)
}

// servePrimary lets the primary serve the request and measures how long it takes.
func (h *Handler) servePrimary(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	start := time.Now()
	err := next.ServeHTTP(w, r)
	h.duration.Observe(time.Since(start).Seconds())
	return err
}

// complete reports whether all that a copy is made of is known already.
func (h *Handler) complete(r *http.Request) bool {
	return len(h.OnlyStatus) == 0 && (r.ContentLength == 0 || h.Body != "")
}

// refuse returns why a request that was chosen is not copied, or none. What is
// refused takes nothing of the rate limit, unless it is recorded.
func (h *Handler) refuse(r *http.Request, target string) outcome {
	switch {
	case marked(r.Header, h.name):
		return droppedLoop
	case r.Method == http.MethodConnect || upgrades(r.Header) || !sendable(r.Method, target):
		return droppedUnsupported
	case h.memory.full():
		return droppedMemory
	case h.Body == "" && r.ContentLength > h.maxBody:
		return droppedBodySize
	}
	return none
}

// send hands a complete copy to every shadow and releases it.
func (h *Handler) send(copied *snapshot) {
	h.beginExchange(copied)
	deadline := time.Now().Add(h.timeout)
	for _, s := range h.shadows {
		s.accept(copied, deadline)
	}
	copied.release()
}

// drop counts a copy that was not made, and warns of it where the shadows or
// the configuration are to blame.
func (h *Handler) drop(reason outcome) {
	for _, s := range h.shadows {
		s.metrics.count(reason)
		if reason == droppedMemory {
			s.trouble("dropping copies: those that wait take too much memory", nil)
		}
	}
	if reason == droppedBodySize && len(h.shadows) > 0 {
		h.warnLarge()
	}
	if h.recorder != nil && !recordable(reason) {
		h.recorder.Skip()
	}
}

func (h *Handler) warnLarge() {
	if more, ok := h.largeLog.Allow(); ok {
		h.logger.Warn("request body is larger than max_body, not copied",
			zap.String("tee", h.name),
			zap.Int64("max_body", h.maxBody),
			zap.Int64("skipped_since_last_warning", more))
	}
}
