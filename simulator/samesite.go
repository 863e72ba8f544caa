// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
)

var errOtherName = errors.New("from this machine the recipe API is reached by an IP address, as localhost, or by a name that the site's address has")

// sameSite refuses what a browser sends on behalf of another site's page.
func sameSite(serve apiFunc) apiFunc {
	return func(h *Handler, w http.ResponseWriter, r *http.Request) error {
		if err := page.CheckSite(r); err != nil {
			return sendError(w, http.StatusForbidden, err)
		}
		return serve(h, w, r)
	}
}
