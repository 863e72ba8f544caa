// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// A connection is taken over only where that changes no response: on a server
// that has nothing but the handler behind matchers of hosts. Anything else, like
// authentication or another site on the same port, would have a say in the
// requests that come later on the connection.

// lookAround is called at the start, when the servers' routes are final. It
// finds the servers that have nothing but the handler, and logs what
// stands in the way on the others that have it.
func (p *Pool) lookAround() {
	app, err := p.ctx.AppIfConfigured("http")
	if err != nil {
		return
	}
	alone := make(map[*caddyhttp.Server]bool)
	servers := app.(*caddyhttp.App).Servers
	found := false
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := survey{handler: p.handler}
		s.server(servers[name])
		switch {
		case !s.found:
			continue
		case len(s.obstacles) == 0:
			alone[servers[name]] = true
		default:
			p.warn(name, s.obstacles)
		}
		found = true
	}
	if !found {
		p.warn("", []string{"the handler that this one is part of"})
	}
	p.alone.Store(&alone)
}

func (p *Pool) warn(server string, obstacles []string) {
	p.logger.Warn("express takes no connection over, since what else the server does would be left out: give this handler an address of its own",
		zap.String("server", server), zap.Strings("in_the_way", obstacles))
}

// survey is what is found among a server's routes.
type survey struct {
	handler   Handler
	found     bool
	obstacles []string // without repetitions
}

func (s *survey) server(server *caddyhttp.Server) {
	s.routes(server.Routes, "")
	for _, name := range slices.Sorted(maps.Keys(server.NamedRoutes)) {
		s.routes(caddyhttp.RouteList{*server.NamedRoutes[name]}, "")
	}
	s.errors(server.Errors)
	for _, setting := range settings(server) {
		s.add(setting, "")
	}
}

func (s *survey) routes(routes caddyhttp.RouteList, site string) {
	for _, route := range routes {
		of := site
		for _, matchers := range route.MatcherSets {
			for _, matcher := range matchers {
				if hosts := hostsOf(matcher); hosts == nil {
					s.add(nameOf(matcher), of)
				} else {
					of = " of " + strings.Join(hosts, ", ")
				}
			}
		}
		for _, handler := range route.Handlers {
			if sub, ok := handler.(*caddyhttp.Subroute); ok {
				s.routes(sub.Routes, of)
				s.errors(sub.Errors)
				continue
			}
			if any(handler) == any(s.handler) {
				s.found = true
				continue
			}
			s.add(nameOf(handler), of)
		}
	}
}

// errors looks at routes for errors, which respond to those of this handler too.
func (s *survey) errors(config *caddyhttp.HTTPErrorConfig) {
	if config != nil && len(config.Routes) > 0 {
		s.add("handle_errors", "")
		s.routes(config.Routes, "")
	}
}

func (s *survey) add(obstacle, site string) {
	if obstacle += site; !slices.Contains(s.obstacles, obstacle) {
		s.obstacles = append(s.obstacles, obstacle)
	}
}

// nameOf returns the ID of a module, without what all of its kind have in common.
func nameOf(module any) string {
	m, ok := module.(caddy.Module)
	if !ok {
		return "an unknown module"
	}
	id := string(m.CaddyModule().ID)
	if name, ok := strings.CutPrefix(id, "http.matchers."); ok {
		return "matcher " + name
	}
	return strings.TrimPrefix(id, "http.handlers.")
}

// hostsOf returns the hosts of a matcher that looks at the host alone, nil if it
// is another one.
func hostsOf(matcher any) []string {
	m, ok := matcher.(*caddyhttp.MatchHost)
	if !ok || slices.ContainsFunc(*m, func(host string) bool { return strings.Contains(host, "{") }) {
		return nil
	}
	return *m
}

// settings lists what a server is told that only Caddy's own path honours.
func settings(server *caddyhttp.Server) (all []string) {
	for name, given := range map[string]bool{
		"read_min_rate":               server.ReadMinRate != 0,
		"write_min_rate":              server.WriteMinRate != 0,
		"expected_underscore_headers": len(server.ExpectedUnderscoreHeaders) > 0,
		"expected_dot_headers":        len(server.ExpectedDotHeaders) > 0,
	} {
		if given {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// leadsHere reports whether a request for a host gets to the handler too. The
// connection's last request had another host, or was its first.
func (c *conn) leadsHere(host string) bool {
	if strict := c.site.StrictSNIHost; strict != nil && *strict && c.x.TLS != nil &&
		!strings.EqualFold(c.x.TLS.ServerName, withoutPort(host)) {
		return false
	}
	request := &http.Request{Host: host}
	request = request.WithContext(context.WithValue(context.Background(), caddy.ReplacerCtxKey, caddy.NewEmptyReplacer()))
	reached, _ := leads(c.site.Routes, request, make(map[string]bool))
	return reached
}

// leads follows the routes as Caddy does. There is nothing in them but the
// handler, which answers everything; ends reports that no later route is looked
// at.
func leads(routes caddyhttp.RouteList, request *http.Request, groups map[string]bool) (reached, ends bool) {
	for _, route := range routes {
		if groups[route.Group] {
			continue
		}
		if matches, err := route.MatcherSets.AnyMatchWithError(request); err != nil || !matches {
			continue
		}
		if route.Group != "" {
			groups[route.Group] = true
		}
		for _, handler := range route.Handlers {
			sub, ok := handler.(*caddyhttp.Subroute)
			if !ok {
				return true, true
			}
			if reached, ends = leads(sub.Routes, request, groups); reached || ends {
				return reached, true
			}
		}
		if route.Terminal {
			return false, true
		}
	}
	return false, false
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}
