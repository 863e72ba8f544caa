// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/page"
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
			found := h.place(server.Routes, false)
			if !found.here {
				continue
			}
			h.named.Store(found.named)
			if !found.followed {
				h.logger.Warn("no handler stands behind this tee, clients get empty responses")
			}
			return
		}
	})
}

// place is where a tee is.
type place struct {
	here     bool // in the routes that were looked at
	followed bool // a handler can come behind it
	named    bool // only requests for certain hosts come to it
}

// place looks for the tee in routes for which a host was matched, or not. Which
// requests the routes behind it match is not looked at.
func (h *Handler) place(routes caddyhttp.RouteList, named bool) (found place) {
	for i, route := range routes {
		within := named || page.MatchesHosts(route.MatcherSets)
		for j, handler := range route.Handlers {
			switch handler := handler.(type) {
			case *Handler:
				found = place{here: handler == h, named: within}
			case *caddyhttp.Subroute:
				found = h.place(handler.Routes, within)
			}
			if found.here {
				found.followed = found.followed || j < len(route.Handlers)-1 || follows(route, routes[i+1:])
				return found
			}
		}
	}
	return place{}
}

// follows reports whether any of the routes behind one in its list can be taken
// after it. Of those in a group only the first is.
func follows(route caddyhttp.Route, behind caddyhttp.RouteList) bool {
	return !route.Terminal && slices.ContainsFunc(behind, func(r caddyhttp.Route) bool {
		return r.Group == "" || r.Group != route.Group
	})
}
