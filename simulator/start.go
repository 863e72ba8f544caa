// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/page"
)

// subscribe registers what the handler does when its configuration comes into
// force, which validating one never does, and when Caddy exits.
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
	if h.missed != nil {
		h.scenario.PassOn(h.missed.upstream)
	} else {
		h.scenario.PassOn("")
	}
	h.scenario.HasOutsiders(h.mappings != nil)
	if h.mappings != nil {
		h.mappings.Use(h.logger)
	}
	if err := h.scenario.Begin(h.logger); err != nil {
		h.logger.Error("cannot begin the scenario again", zap.Error(err))
	}
}

// surroundings is what the routes around a handler say.
type surroundings struct {
	named  bool     // only requests for certain hosts come here
	behind []string // IDs of handlers that no request gets to
}

// lookAround finds the handler among the routes of the servers, which are final
// when the configuration starts.
func (h *Handler) lookAround(ctx caddy.Context) {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		if found, ok := h.siteIn(server.Routes, false); ok {
			h.named.Store(found.named)
			if len(found.behind) > 0 {
				h.logger.Warn("the simulator answers every request: what comes behind it is never reached", zap.Strings("handlers", found.behind))
			}
		}
	}
}

// siteIn looks for the handler in routes for which a host was matched, or not.
func (h *Handler) siteIn(routes caddyhttp.RouteList, named bool) (found surroundings, ok bool) {
	for i, route := range routes {
		within := named || page.MatchesHosts(route.MatcherSets)
		for j, handler := range route.Handlers {
			if sub, is := handler.(*caddyhttp.Subroute); is {
				if found, ok = h.siteIn(sub.Routes, within); ok {
					return found, true
				}
			}
			if any(handler) != any(h) {
				continue
			}
			found.named = within
			found.behind = namesOf(route.Handlers[j+1:])
			if len(route.MatcherSets) == 0 {
				for _, later := range routes[i+1:] {
					found.behind = append(found.behind, namesOf(later.Handlers)...)
				}
			}
			return found, true
		}
	}
	return surroundings{}, false
}

func namesOf(handlers []caddyhttp.MiddlewareHandler) (names []string) {
	for _, handler := range handlers {
		if module, ok := handler.(caddy.Module); ok {
			names = append(names, string(module.CaddyModule().ID))
		}
	}
	return names
}
