// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
)

// warnIfLast warns, when the configuration is in force, of a tee without a
// primary: nothing stands behind it, so that clients get empty responses.
func (h *Handler) warnIfLast(ctx caddy.Context) error {
	return lifecycle.OnStart(ctx, func() {
		app, err := ctx.App("http")
		if err != nil {
			return
		}
		for _, server := range app.(*caddyhttp.App).Servers {
			if found, followed := h.place(server.Routes); found && !followed {
				h.logger.Warn("no handler stands behind this tee, clients get empty responses")
				return
			}
		}
	})
}

// place reports whether the tee is found in routes, and then whether a handler
// can follow it. Which requests the routes behind it match is not looked at.
func (h *Handler) place(routes caddyhttp.RouteList) (found, followed bool) {
	for i, route := range routes {
		for j, handler := range route.Handlers {
			switch handler := handler.(type) {
			case *Handler:
				found = handler == h
			case *caddyhttp.Subroute:
				found, followed = h.place(handler.Routes)
			}
			if found {
				return true, followed || j < len(route.Handlers)-1 || follows(route, routes[i+1:])
			}
		}
	}
	return false, false
}

// follows reports whether any of the routes behind one in its list can be taken
// after it. Of those in a group only the first is.
func follows(route caddyhttp.Route, behind caddyhttp.RouteList) bool {
	return !route.Terminal && slices.ContainsFunc(behind, func(r caddyhttp.Route) bool {
		return r.Group == "" || r.Group != route.Group
	})
}
