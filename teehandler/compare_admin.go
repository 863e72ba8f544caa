// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
)

// DefaultAdmin is the path of the page unless another one is given.
const DefaultAdmin = "/_tee"

func (h *Handler) parseAdmin(d *caddyfile.Dispenser) error {
	h.Admin = DefaultAdmin
	if d.NextArg() {
		h.Admin = d.Val()
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	if err := checkAdmin(h.Admin); err != nil {
		return d.Errf("parsing admin: %v", err)
	}
	return nil
}

// checkAdmin refuses what is not the path of a page. Without one there is none.
func checkAdmin(path string) error {
	if path != "" && (path[0] != '/' || strings.HasSuffix(path, "/")) {
		return fmt.Errorf("'%s' is not a path like %s", path, DefaultAdmin)
	}
	return nil
}

// adminPath returns what follows the prefix of the page in a request for it.
func (h *Handler) adminPath(r *http.Request) (below string, ok bool) {
	if h.Admin == "" {
		return "", false
	}
	below, ok = strings.CutPrefix(r.URL.Path, h.Admin)
	return below, ok && (below == "" || below[0] == '/')
}

// serveAdmin serves the page. Its own path goes on to the one whose links lead
// below it, with a relative target that holds behind a proxy as well.
func (h *Handler) serveAdmin(w http.ResponseWriter, r *http.Request, below string) error {
	switch {
	case !page.KnowsHost(r, h.named.Load()):
		page.SendError(w, http.StatusForbidden, errOtherName)
		return nil
	case below == "":
		w.Header().Set("Location", path.Base(h.Admin)+"/")
		w.WriteHeader(http.StatusFound)
		return nil
	}
	return h.comparison.Serve(w, r, below)
}
