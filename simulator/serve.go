// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// statusClientLeft is what is logged for a client that did not wait.
const statusClientLeft = 499

// mostRead is how much of a request's body is read before it is answered. A
// client that sends more may lose its connection.
const mostRead = 64 << 20

// serve answers a request as the recipes say.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	arrived := time.Now()
	a, err := h.decide(r)
	if err != nil {
		return err
	}
	h.log(r, &a)
	if r.ContentLength != 0 {
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, mostRead)); err != nil {
			return caddyhttp.Error(http.StatusBadRequest, err)
		}
	}
	if a.Latency > 0 {
		if err := sleep(r.Context(), a.Latency-time.Since(arrived)); err != nil {
			return err
		}
	}
	switch {
	case a.Fault != response.NoFault:
		return fail(w, r, &a)
	case a.Streams():
		return stream(w, r, &a)
	}
	return write(w, r, &a)
}

// decide says what a request is answered: by the mappings, else by the recipes.
func (h *Handler) decide(r *http.Request) (response.Response, error) {
	if h.mappings == nil {
		return h.decideByRecipe(r.URL.Path), nil
	}
	return h.decideByMapping(stubRequest(r), r.URL.Path)
}

// decideByMapping says what the mappings have for a request, else the recipes.
func (h *Handler) decideByMapping(request *wiremock.Request, path string) (response.Response, error) {
	if a, found, err := h.mappings.decide(request); found || err != nil {
		return a, err
	}
	if a, found := h.scenario.Decide(path); found {
		return a, nil
	}
	return h.mappings.unmatched(request), nil
}

// decideByRecipe says what the recipes have for a path.
func (h *Handler) decideByRecipe(path string) response.Response {
	a, found := h.scenario.Decide(path)
	if !found {
		return h.scenario.NotSet(path, h.postTo())
	}
	return a
}

// timers are those that no request is waiting for.
var timers = sync.Pool{New: func() any { return time.NewTimer(time.Hour) }}

// sleep waits, but neither for a client that has left nor when Caddy exits.
func sleep(ctx context.Context, d time.Duration) error {
	timer := timers.Get().(*time.Timer)
	timer.Reset(d)
	defer func() {
		timer.Stop()
		timers.Put(timer)
	}()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return caddyhttp.Error(statusClientLeft, ctx.Err())
	case <-lifecycle.Exits():
		panic(http.ErrAbortHandler) // breaks off the connection without an answer
	}
}
