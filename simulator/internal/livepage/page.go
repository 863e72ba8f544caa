// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package livepage is a page on which people watch a scenario run: where every
// route is on its timeline, what it answers and how often.
package livepage

import (
	"embed"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

//go:embed assets
var assets embed.FS

var files = page.NewFiles(assets)

// Page shows one scenario.
type Page struct {
	scenario  *scenario.Scenario
	texts     texts
	latencies latencies
}

// New makes a page that shows a scenario.
func New(s *scenario.Scenario) *Page { return &Page{scenario: s} }

// feedPath is the document that keeps the page up to date.
const feedPath = "/live.json"

// Paths returns the paths that Serve takes, below the page's own.
func Paths() []string { return append(files.Paths(), feedPath) }

// Serve answers one of Paths.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	if name == feedPath {
		return p.serveFeed(w, r)
	}
	return files.Serve(w, name)
}
