// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package livepage is a page on which people watch a scenario run: where every
// route is on its timeline, what it answers and how often. Its files are
// embedded and load nothing from elsewhere.
package livepage

import (
	"embed"
	"io/fs"
	"net/http"
	"path"

	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/document"
)

//go:embed assets
var assets embed.FS

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

// Paths gives the paths that Serve takes.
func Paths() []string {
	entries, _ := fs.ReadDir(assets, "assets") // is there: it was embedded
	paths := make([]string, 0, len(entries)+2)
	paths = append(paths, "/", feedPath)
	for _, entry := range entries {
		paths = append(paths, "/"+entry.Name())
	}
	return paths
}

// policy allows the page what it needs: its own files and its own site. Markup
// can not be made from text at all, where browsers know that rule.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// Serve answers one of Paths.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	if name == feedPath {
		return p.serveFeed(w, r)
	}
	if name == "/" {
		name = "/index.html"
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
	}
	content, err := assets.ReadFile("assets" + name)
	if err != nil {
		return err
	}
	document.Send(w, http.StatusOK, mediaTypes[path.Ext(name)], content)
	return nil
}

// mediaTypes are those of the page's files, whatever the machine's own table
// says.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}
