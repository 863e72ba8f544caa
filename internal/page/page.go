// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package page is what the pages have in common that people watch a handler on:
// their look, their scripts, how they are served, and which requests of browsers
// may change anything. What they load is embedded, and nothing is from elsewhere.
package page

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"strconv"
)

// Send sends a document, whose type browsers are to take as it is. That the
// client has left is no error.
func Send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// SendJSON sends a value, whose encoding cannot fail.
func SendJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	Send(w, status, "application/json; charset=utf-8", body)
}

// SendError sends an error, as {"error": text}.
func SendError(w http.ResponseWriter, status int, err error) {
	SendJSON(w, status, map[string]string{"error": err.Error()})
}

//go:embed assets
var assets embed.FS

// Files are those of one page: its own, in the folder assets, and those that
// all pages share. index.html is served as /.
type Files struct{ own fs.FS }

// NewFiles returns the files of a page with its own ones.
func NewFiles(own fs.FS) Files { return Files{own} }

// Paths returns the paths that Serve takes.
func (f Files) Paths() []string {
	paths := []string{"/"}
	for _, from := range []fs.FS{f.own, assets} {
		entries, _ := fs.ReadDir(from, "assets") // is there: it was embedded
		for _, entry := range entries {
			paths = append(paths, "/"+entry.Name())
		}
	}
	return paths
}

// policy allows a page what it needs: its own files and its own site. Markup can
// not be made from text at all, where browsers know that rule.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// Serve sends one of Paths. The error is that of a path that is none of them.
func (f Files) Serve(w http.ResponseWriter, name string) error {
	if name == "/" {
		name = "/index.html"
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
	}
	content, err := fs.ReadFile(f.own, "assets"+name)
	if err != nil {
		if content, err = assets.ReadFile("assets" + name); err != nil {
			return err
		}
	}
	Send(w, http.StatusOK, mediaTypes[path.Ext(name)], content)
	return nil
}

// mediaTypes are those of the files, whatever the machine's own table says.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}
