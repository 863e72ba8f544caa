// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI is a module that adds to Caddy's admin API a view of the tees that
// compare, whatever sites they serve:
//
//	GET  /rehearsal/tees
//	GET  /rehearsal/tees/<name>/differences
//	POST /rehearsal/tees/<name>/reset
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.rehearsal_tees",
		New: func() caddy.Module { return new(adminAPI) },
	}
}

// Routes returns the paths of the API.
func (adminAPI) Routes() []caddy.AdminRoute {
	const base = "/rehearsal/tees"
	return []caddy.AdminRoute{
		{Pattern: base, Handler: caddy.AdminHandlerFunc(listTees)},
		{Pattern: base + "/{name}/differences", Handler: caddy.AdminHandlerFunc(sendDifferences)},
		{Pattern: base + "/{name}/reset", Handler: caddy.AdminHandlerFunc(resetCounts)},
	}
}

func listTees(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return methodNotAllowed(w, http.MethodGet)
	}
	list := []Summary{}
	for _, s := range all() {
		list = append(list, s.summary())
	}
	page.SendJSON(w, http.StatusOK, list)
	return nil
}

func sendDifferences(w http.ResponseWriter, r *http.Request) error {
	s, err := named(r)
	switch {
	case err != nil:
		return err
	case r.Method != http.MethodGet:
		return methodNotAllowed(w, http.MethodGet)
	}
	page.SendJSON(w, http.StatusOK, s.differences())
	return nil
}

func resetCounts(w http.ResponseWriter, r *http.Request) error {
	s, err := named(r)
	switch {
	case err != nil:
		return err
	case r.Method != http.MethodPost:
		return methodNotAllowed(w, http.MethodPost)
	}
	s.reset()
	page.SendJSON(w, http.StatusOK, s.summary())
	return nil
}

// named returns the comparison of the tee that the path names.
func named(r *http.Request) (*shared, error) {
	name := r.PathValue("name")
	for _, s := range all() {
		if s.tee == name {
			return s, nil
		}
	}
	return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: fmt.Errorf("there is no tee '%s' that compares", name)}
}

func methodNotAllowed(w http.ResponseWriter, allowed string) error {
	w.Header().Set("Allow", allowed)
	return caddy.APIError{HTTPStatus: http.StatusMethodNotAllowed, Err: errors.New("method not allowed")}
}

// Interface guard
var _ caddy.AdminRouter = adminAPI{}
