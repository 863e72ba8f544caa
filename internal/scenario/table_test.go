// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"strings"
	"testing"
)

// TestMostSpecificRouteWins holds the precedence whatever the order.
func TestMostSpecificRouteWins(t *testing.T) {
	recipes := []string{}
	for _, route := range []string{"/*", "/news*", "/news/sport", "/news/s*", "/"} {
		recipes = append(recipes, `{"route":"`+route+`","body":"`+route+`","stages":[{}]}`)
	}
	for range 2 {
		s := play(t, "["+strings.Join(recipes, ",")+"]")
		for path, want := range map[string]string{
			"/news/sport": "/news/sport", "/news/sport/": "/news/s*", "/news/x": "/news*", "/newsroom": "/news*",
			"/new": "/*", "/": "/", "": "/", "/other": "/*", "/news/sport*": "/news/s*", "*": "",
		} {
			a, found := s.Decide(Request{Path: path})
			if found != (want != "") || a.Route != want {
				t.Errorf("%s went to %q, want %q", path, a.Route, want)
			}
		}
		slices.Reverse(recipes)
	}
}

func TestRoutesWithoutDefault(t *testing.T) {
	s := play(t, `{"route":"/a","stages":[{"status":503}]}`)
	if _, found := s.Decide(Request{Path: "/b"}); found {
		t.Error("/b was answered")
	}
	if a := s.NotSet("/b", "/_admin/add_recipe"); a.Status != 406 ||
		bodyOf(a) != "Recipe not set at /b, please POST a recipe for this route to /_admin/add_recipe" {
		t.Errorf("got %d %s", a.Status, bodyOf(a))
	}
	status := s.Status()
	if len(status) != 2 || status[0].Route != "/*" || status[0].Outcomes[0].Status != 406 || status[1].Route != "/a" {
		t.Errorf("got %v", status)
	}
}
