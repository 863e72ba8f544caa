// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"net/http"
	"net/url"
)

var (
	crossOrigin  http.CrossOriginProtection
	errOtherSite = errors.New("a page of another site may not do this")
	errOtherName = errors.New("from this machine the recipe API is reached by an IP address, as localhost, or by a name that the site's address has")
	errNoPage    = errors.New("a browser may not do this with a GET that does not say which page sends it: POST it, or use the live page")
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
		if r.Method != http.MethodPost && hidesItsPage(r) {
			return sendError(w, http.StatusForbidden, errNoPage)
		}
		return serve(h, w, r)
	}
}

// hidesItsPage tells whether a GET looks like a browser's that any page may have
// caused, with an image, a frame or a link. Over plain HTTP to another machine a
// browser sends neither Sec-Fetch-Site nor, with these, Origin, but always
// Accept-Language, and a page can keep it from sending Referer.
func hidesItsPage(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != "" {
		return false // they are as they should be
	}
	referer := r.Referer()
	if from, err := url.Parse(referer); referer != "" && err == nil && from.Host == r.Host {
		return false
	}
	_, reads := r.Header["Accept-Language"]
	return reads || referer != ""
}
