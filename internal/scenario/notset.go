// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// notSetStatus is what is answered where no recipe holds.
const notSetStatus = http.StatusNotAcceptable

// NotSet is what is said where there is no recipe at all.
func NotSet(postTo string) string { return "Recipe not set, please POST a recipe to " + postTo }

// NotSet answers a request that no route takes, with a hint where a recipe can
// be posted.
func (s *Scenario) NotSet(path, postTo string) response.Response {
	s.unset.of(notSetStatus).hit()
	text := NotSet(postTo)
	if len(s.table.Load().routes) > 0 {
		text = "Recipe not set at " + path + ", please POST a recipe for this route to " + postTo
	}
	return response.Response{Message: response.NewText(notSetStatus, text)}
}
