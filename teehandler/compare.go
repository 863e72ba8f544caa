// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/teehandler/internal/comparison"
)

var (
	errNothingToCompare = errors.New("compare needs a shadow: give a URL or a handle block")
	errOtherName        = errors.New("from this machine the page is reached by an IP address, as localhost, or by a name that the site's address has")
	errNothingToShow    = errors.New("admin shows what compare finds: there is no compare")
)

// reasonPrimary is counted for pairs whose primary has no response that the tee
// could see whole: it broke off, the client left, or the error routes answered.
const reasonPrimary = "primary"

func (h *Handler) parseCompare(d *caddyfile.Dispenser) (err error) {
	h.Compare, err = comparison.ParseOption(d, func(url string) (string, error) {
		if strings.Contains(url, "{") { // known at load
			return url, nil
		}
		_, err := parseAddress(url)
		return url, err
	})
	return err
}

// addNoise adds the shadow that measures noise behind those that are compared.
func (h *Handler) addNoise(repl *caddy.Replacer, trust *tls.Config) error {
	for i, s := range h.shadows {
		s.side = pairs.NewSystem(i)
	}
	if h.Compare.Noise == "" {
		return nil
	}
	address, err := repl.ReplaceOrErr(h.Compare.Noise, true, true)
	if err != nil {
		return fmt.Errorf("compare: noise '%s': %v", h.Compare.Noise, err)
	}
	twin, err := h.newURLShadow(address, trust)
	if err != nil {
		return fmt.Errorf("compare: noise '%s': %v", address, err)
	}
	h.addShadow(address, twin)
	h.shadows[len(h.shadows)-1].side = pairs.Twin
	return nil
}

// openComparison makes the comparison of all shadows but the one that measures
// noise.
func (h *Handler) openComparison(ctx caddy.Context) (err error) {
	if h.Compare == nil {
		if h.Admin != "" {
			return errNothingToShow
		}
		return nil
	}
	if err := checkAdmin(h.Admin); err != nil {
		return fmt.Errorf("admin: %v", err)
	}
	var names []string
	for _, s := range h.shadows {
		if s.side != pairs.Twin {
			names = append(names, s.name)
		}
	}
	if h.comparison, err = comparison.Open(ctx, h.name, names, h.Compare, h.timeout); err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	for _, s := range h.shadows {
		s.comparison = h.comparison
	}
	return nil
}

// compares returns where the primary's response to a copy is kept, or nil if it
// is not among those that are compared. It looks at the request while no
// handler behind the tee can have changed it.
func (h *Handler) compares(copied *snapshot, r *http.Request) *keptResponse {
	if h.comparison == nil || !h.comparison.Wants() {
		return nil
	}
	copied.lines = http1.AppendField(copied.lines[:0], "Host", r.Host)
	copied.lines = http1.AppendHeader(copied.lines, r.Header)
	copied.keep(len(copied.lines))
	copied.old = newKept(h.comparison)
	return copied.old
}

// beginExchange begins the comparison of a complete copy.
func (h *Handler) beginExchange(copied *snapshot) {
	if copied.old == nil {
		return
	}
	copied.exchange = h.comparison.Begin(&pairs.Request{
		ID: fmt.Sprintf("%016x", rand.Uint64()), Method: []byte(copied.method), Target: []byte(copied.target),
		Header: copied.lines, Body: copied.body,
	})
	copied.old.exchange = copied.exchange
}

// keeps returns what keeps the response to a copy that is compared.
func (s *shadow) keeps(copied *snapshot) *keptResponse {
	if copied.exchange == nil {
		return nil
	}
	return newKept(s.comparison)
}

// hand hands over what a shadow has responded, or why it has not.
func (s *shadow) hand(x *pairs.Exchange, k *keptResponse, begun time.Time, err error) {
	defer k.release()
	if err != nil {
		if failed := failedWith(err); failed == timedOut || k.status == 0 {
			x.Fail(s.side, outcomeNames[failed])
			return
		}
		kind := http1.KindOf(err)
		if errors.Is(err, http.ErrAbortHandler) { // of handlers, whose upstream broke off
			kind = http1.CutOff
		}
		k.err = kind.String()
	}
	k.begun, k.duration = begun, time.Since(begun)
	k.respond(x, s.side)
}

// defaultAdmin is the path of the page unless another one is given.
const defaultAdmin = "/_tee"

func (h *Handler) parseAdmin(d *caddyfile.Dispenser) error {
	h.Admin = defaultAdmin
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
		return fmt.Errorf("'%s' is not a path like %s", path, defaultAdmin)
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
