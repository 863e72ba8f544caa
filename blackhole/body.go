// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// bodyError is the error for a request whose body could not be read: the one
// of a handler that limits bodies, or that the client broke off.
func bodyError(err error) error {
	if _, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return caddyhttp.Error(http.StatusRequestEntityTooLarge, err)
	}
	return caddyhttp.Error(http.StatusBadRequest, err)
}
