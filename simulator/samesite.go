// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"net/http"
)

var (
	crossOrigin  http.CrossOriginProtection
	errOtherSite = errors.New("a page of another site may not do this")
)

// sameSite refuses what a browser sends on behalf of another site's page, which
// could otherwise change what runs here as soon as somebody looks at it.
// Programs that are not browsers say nothing of sites and pass.
func sameSite(serve apiFunc) apiFunc {
	return func(h *Handler, w http.ResponseWriter, r *http.Request) error {
		changing := *r
		changing.Method = http.MethodPost // a GET changes things here too
		if crossOrigin.Check(&changing) != nil {
			return sendError(w, http.StatusForbidden, errOtherSite)
		}
		return serve(h, w, r)
	}
}
