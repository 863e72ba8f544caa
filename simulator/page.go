// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"net/http"
	"path"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/simulator/internal/livepage"
)

func init() {
	endpoints[""] = endpoint{reading, (*Handler).redirectToPage}
	for _, path := range livepage.Paths() {
		endpoints[path] = endpoint{reading, (*Handler).servePage}
	}
}

// redirectToPage goes on to the path whose links lead into the API. The target
// is relative, so that it holds behind a proxy that serves it elsewhere.
func (h *Handler) redirectToPage(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Location", path.Base(h.Admin)+"/")
	w.WriteHeader(http.StatusFound)
	return nil
}

func (h *Handler) servePage(w http.ResponseWriter, r *http.Request) error {
	return h.page.Serve(w, r, strings.TrimPrefix(r.URL.Path, h.Admin))
}
