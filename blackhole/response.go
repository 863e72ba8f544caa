// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// newMessage makes the response to every request. A status of 0 is 200.
func newMessage(status int, header http.Header, body string) (*response.Message, error) {
	if status == 0 {
		status = http.StatusOK
	}
	if _, err := parseStatus(strconv.Itoa(status)); err != nil {
		return nil, fmt.Errorf("status: %v", err)
	}
	all := make(http.Header)
	for name, values := range header {
		for _, value := range values {
			if err := cmp.Or(refuseFraming(name), units.CheckField(name, value)); err != nil {
				return nil, fmt.Errorf("headers: %v", err)
			}
			all.Add(name, value)
		}
	}
	if body != "" && response.HasBody(status) && all["Content-Type"] == nil {
		all.Set("Content-Type", "text/plain; charset=utf-8")
	}
	var fields []response.Field
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fields = append(fields, response.NewField(name, all[name]...))
	}
	return response.NewMessage(status, fields, response.Bytes([]byte(body))), nil
}

// refuseFraming refuses a field that the server sets.
func refuseFraming(name string) error {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Length", "Transfer-Encoding", "Connection", "Trailer":
		return fmt.Errorf("%s is set by the server", name)
	}
	return nil
}
