// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2"
)

func init() { caddy.RegisterModule(adminAPI{}) }

// adminAPI is a module that adds to Caddy's admin API a view of the services that
// run:
//
//	GET /rehearsal/queues
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.rehearsal_queues", New: func() caddy.Module { return new(adminAPI) }}
}

// Routes returns the routes of the API.
func (adminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: "/rehearsal/queues", Handler: caddy.AdminHandlerFunc(listQueues)}}
}

// serviceStatus is a service in the list.
type serviceStatus struct {
	Broker    string            `json:"broker"`
	Place     string            `json:"place"`
	Service   string            `json:"service"`
	Address   string            `json:"address"`
	Receiving bool              `json:"receiving"`
	InHand    int               `json:"in_hand"` // on the address
	Stage     int               `json:"stage,omitempty"`
	Stages    int               `json:"stages,omitempty"` // how many there are
	Requests  map[string]uint64 `json:"requests"`
}

func listQueues(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		return caddy.APIError{HTTPStatus: http.StatusMethodNotAllowed, Err: errors.New("method not allowed")}
	}
	list := []serviceStatus{}
	for _, rc := range running() {
		rc.mu.Lock()
		pending := rc.pending
		rc.mu.Unlock()
		for _, svc := range rc.services {
			status := serviceStatus{
				Broker: rc.broker, Place: rc.protocol.Place(), Service: svc.Name, Address: rc.address,
				Receiving: rc.up.Load(), InHand: pending, Stages: len(svc.stages), Requests: make(map[string]uint64),
			}
			for result, c := range svc.counts {
				if n := c.n.Load(); n > 0 {
					status.Requests[result] = n
				}
			}
			if svc.scenario != nil {
				for _, route := range svc.scenario.Status() {
					if route.Route == "/*" {
						status.Stage = route.Stage
					}
				}
			}
			list = append(list, status)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(list)
}

// Interface guard
var _ caddy.AdminRouter = adminAPI{}
