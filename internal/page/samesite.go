// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

var (
	crossOrigin  http.CrossOriginProtection
	errOtherSite = errors.New("a page of another site may not do this")
	errNoPage    = errors.New("a browser may not do this with a GET that does not say which page sends it: POST it, or use the live page")
)

// CheckSite refuses a request that changes something if a browser sends it on
// behalf of another site's page, which could otherwise change what runs here as
// soon as somebody looks at it. Programs that are not browsers say nothing of
// sites and pass.
func CheckSite(r *http.Request) error {
	changing := *r
	changing.Method = http.MethodPost // a GET changes things here too
	if crossOrigin.Check(&changing) != nil {
		return errOtherSite
	}
	// With every other method a browser sends Origin.
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && hidesItsPage(r) {
		return errNoPage
	}
	return nil
}

// hidesItsPage reports whether a GET looks like a browser's that any page may have
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

// KnowsHost reports whether a request of this machine names it by an address, as
// localhost or, where only requests for certain hosts come here, as the site does.
// A page whose owner has made another name lead here is its own site to the
// browser, so that only the name gives it away.
func KnowsHost(r *http.Request, named bool) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || named {
		return true
	}
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	_, err = netip.ParseAddr(strings.Trim(name, "[]"))
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// MatchesHosts reports whether only requests for certain hosts match.
func MatchesHosts(sets caddyhttp.MatcherSets) bool {
	return len(sets) > 0 && !slices.ContainsFunc(sets, func(set caddyhttp.MatcherSet) bool {
		return !slices.ContainsFunc(set, func(matcher any) bool {
			_, ok := matcher.(*caddyhttp.MatchHost)
			return ok
		})
	})
}
