// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"embed"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/page"
)

//go:embed assets
var assets embed.FS

var (
	files     = page.NewFiles(assets)
	filePaths = files.Paths()
)

var errNoExample = errors.New("that pair is not kept any more")

// Serve serves the page of a tee, by what follows its prefix in the path:
//
//	GET  /                   the page, and its files
//	GET  /live.json          what was found, as Differences; find=<part> limits the fields
//	GET  /example.json?id=   the pair of a field, as Example
//	POST /reset              has the counts begin at zero
func (c *Comparison) Serve(w http.ResponseWriter, r *http.Request, path string) error {
	methods := []string{http.MethodGet, http.MethodHead}
	if path == "/reset" {
		methods = []string{http.MethodPost}
	}
	known := slices.Contains(filePaths, path) || path == "/live.json" || path == "/example.json" || path == "/reset"
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !known:
		page.Send(w, http.StatusNotFound, "text/plain; charset=utf-8", []byte("Not found"))
		return nil
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", strings.Join(methods, ", "))
		page.Send(w, http.StatusMethodNotAllowed, "text/plain; charset=utf-8", []byte("Method not allowed"))
		return nil
	}
	switch path {
	case "/live.json":
		caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true) // a page asks all the time
		page.SendJSON(w, http.StatusOK, c.live(r.URL.Query().Get("find")))
	case "/example.json":
		if example := c.example(r.URL.Query().Get("id")); example != nil {
			page.SendJSON(w, http.StatusOK, example)
		} else {
			page.SendError(w, http.StatusNotFound, errNoExample)
		}
	case "/reset":
		if err := page.CheckSite(r); err != nil {
			page.SendError(w, http.StatusForbidden, err)
			return nil
		}
		c.reset()
		page.SendJSON(w, http.StatusOK, c.summary())
	default:
		return files.Serve(w, path)
	}
	return nil
}

// mostRows bounds the fields of one shadow that are shown; the page has a field to
// look for others.
const mostRows = 200

// feed is what keeps the page up to date.
type feed struct {
	Differences
	// Found is the number of fields that were looked for, of all that there are.
	Found int `json:"found"`
	All   int `json:"all"`
}

// live returns what the page shows: the fields whose endpoint or name has find.
func (c *Comparison) live(find string) feed {
	f := feed{Differences: c.differences()}
	for _, shadow := range f.Shadows {
		f.All += len(shadow.Rows)
		shadow.Rows = slices.DeleteFunc(shadow.Rows, func(row tally.Row) bool {
			return !strings.Contains(row.Endpoint+" "+row.Field, find)
		})
		f.Found += len(shadow.Rows)
		shadow.Rows = shadow.Rows[:min(len(shadow.Rows), mostRows)]
	}
	return f
}
