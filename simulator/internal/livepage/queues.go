// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// queues are the services of the queue simulator that runs beside.
type queues struct {
	// Found is the number of services that were looked for, of all that there are.
	Found int `json:"found"`
	All   int `json:"all"`
	// Services are the first of those found.
	Services []service `json:"services"`
}

// service is one, in the words of the queue simulator's own list.
type service struct {
	Broker    string            `json:"broker"`
	Place     string            `json:"place"`
	Service   string            `json:"service"`
	Address   string            `json:"address"`
	Receiving bool              `json:"receiving"`
	InHand    int               `json:"in_hand"`
	Stage     int               `json:"stage"`
	Stages    int               `json:"stages"`
	Requests  map[string]uint64 `json:"requests"`
}

// lookAtQueues returns the services whose name, broker or address contains what is
// looked for; nil if none runs.
func lookAtQueues(find string) *queues {
	var q queues
	type key struct{ broker, service string }
	seen := make(map[key]bool) // for a moment of a reload the old one is there as well
	for _, s := range services() {
		if k := (key{s.Broker, s.Service}); seen[k] {
			continue
		} else {
			seen[k] = true
		}
		q.All++
		if !strings.Contains(s.Service+" "+s.Broker+" "+s.Address, find) {
			continue
		}
		if q.Found++; len(q.Services) < mostRoutes {
			q.Services = append(q.Services, s)
		}
	}
	if q.All == 0 {
		return nil
	}
	return &q
}

// The module and the path of Caddy's admin API that have the list. Parts know one
// another by such names only, and a build may have no queue simulator.
const (
	queueModule = "admin.api.rehearsal_queues"
	queuePath   = "/rehearsal/queues"
)

// services returns all services that run.
func services() (list []service) {
	info, err := caddy.GetModule(queueModule)
	if err != nil {
		return nil
	}
	router, ok := info.New().(caddy.AdminRouter)
	if !ok {
		return nil
	}
	for _, route := range router.Routes() {
		if route.Pattern != queuePath {
			continue
		}
		req, err := http.NewRequest(http.MethodGet, queuePath, nil)
		if err != nil {
			return nil
		}
		w := &answer{header: make(http.Header)}
		if route.Handler.ServeHTTP(w, req) != nil || json.Unmarshal(w.Bytes(), &list) != nil {
			return nil
		}
	}
	return list
}

// answer is what a path of the admin API answers.
type answer struct {
	bytes.Buffer
	header http.Header
}

func (a *answer) Header() http.Header { return a.header }
func (*answer) WriteHeader(int)       {}
