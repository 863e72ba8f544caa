// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI is a module that adds to Caddy's admin API a view of the simulators
// that run, whatever sites they serve:
//
//	GET  /rehearsal/simulators
//	GET  /rehearsal/simulators/<name>/recipes
//	POST /rehearsal/simulators/<name>/recipes
//	POST /rehearsal/simulators/<name>/restart[?at=<RFC 3339 time>]
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.rehearsal_simulators",
		New: func() caddy.Module { return new(adminAPI) },
	}
}

// Routes returns the routes of the API.
func (adminAPI) Routes() []caddy.AdminRoute {
	const base = "/rehearsal/simulators"
	return []caddy.AdminRoute{
		{Pattern: base, Handler: caddy.AdminHandlerFunc(listSimulators)},
		{Pattern: base + "/{name}/recipes", Handler: caddy.AdminHandlerFunc(serveRecipes)},
		{Pattern: base + "/{name}/restart", Handler: caddy.AdminHandlerFunc(restartSimulator)},
	}
}

// simulatorStatus is a simulator in the list.
type simulatorStatus struct {
	Name     string        `json:"name"`
	Requests uint64        `json:"requests"`
	Routes   []routeStatus `json:"routes"`
}

// routeStatus has the status and latency of a stage's outcome; if it has several,
// of the last one, and all of them beside.
type routeStatus struct {
	Route    string           `json:"route"`
	Stage    int              `json:"stage"`
	Status   int              `json:"status,omitempty"` // none where requests are passed on
	OnMiss   string           `json:"on_miss,omitempty"`
	Latency  latency.Latency  `json:"latency"`
	Outcomes []recipe.Outcome `json:"outcomes,omitempty"`
	Requests uint64           `json:"requests"`
}

func listSimulators(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		return methodNotAllowed(w, "GET")
	}
	list := []simulatorStatus{}
	for _, r := range all() {
		counts, byRoute := r.Counted()
		status := simulatorStatus{Name: r.Name(), Requests: counts.Total()}
		for _, route := range r.Status() {
			last := route.Outcomes[len(route.Outcomes)-1]
			shown := routeStatus{
				Route: route.Route, Stage: route.Stage, Status: last.Status, Latency: last.Latency, OnMiss: route.PassedTo,
				Requests: byRoute[route.Route].Total(),
			}
			if len(route.Outcomes) > 1 {
				shown.Outcomes = route.Outcomes
			}
			status.Routes = append(status.Routes, shown)
		}
		list = append(list, status)
	}
	return sendJSON(w, http.StatusOK, list)
}

func serveRecipes(w http.ResponseWriter, r *http.Request) error {
	s, err := named(r)
	if err != nil {
		return err
	}
	switch r.Method {
	case http.MethodGet:
		return sendJSON(w, http.StatusOK, s.Recipes())
	case http.MethodPost:
		logger := caddy.Log().Named(string(adminAPI{}.CaddyModule().ID)).With(zap.String("simulator", s.Name()))
		return addRecipes(w, r, s.Scenario, logger, anyRecipe)
	}
	return methodNotAllowed(w, "GET, POST")
}

func restartSimulator(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return methodNotAllowed(w, "POST")
	}
	s, err := named(r)
	if err != nil {
		return err
	}
	var at time.Time
	query := r.URL.Query()
	for name, values := range query {
		if name != "at" || len(values) != 1 { // a restart by mistake cannot be taken back
			return caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("'%s' is no parameter of a restart, or is there twice: expected one at", name)}
		}
	}
	if query.Has("at") {
		text := query.Get("at")                                                      // empty where a script could not make a time: not now
		if at, err = time.Parse(time.RFC3339Nano, text); err != nil || at.IsZero() { // which would be now
			return caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("at: '%s' is not a time: expected one like 2026-11-30T14:35:00Z", text)}
		}
	}
	if err := s.Restart(at); err != nil {
		return caddy.APIError{HTTPStatus: http.StatusInternalServerError, Err: err}
	}
	return sendJSON(w, http.StatusOK, s.Recipes())
}

// named returns the simulator that the path names, or a 404 if none of that name
// runs.
func named(r *http.Request) (*running, error) {
	name := r.PathValue("name")
	for _, s := range all() {
		if s.Name() == name {
			return s, nil
		}
	}
	return nil, caddy.APIError{HTTPStatus: http.StatusNotFound, Err: fmt.Errorf("there is no simulator '%s'", name)}
}

func methodNotAllowed(w http.ResponseWriter, allowed string) error {
	w.Header().Set("Allow", allowed)
	return caddy.APIError{HTTPStatus: http.StatusMethodNotAllowed, Err: errors.New("method not allowed")}
}

// Interface guard
var _ caddy.AdminRouter = adminAPI{}
