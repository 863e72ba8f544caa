// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"net/http"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// failExpress lets a fault befall the answer on a connection that was taken
// over.
func failExpress(x *express.Exchange, a *response.Response) {
	switch a.Fault {
	case response.NoFault:
	case response.Hang:
		for x.Sleep(time.Hour) && x.Watched() {
		}
	case response.Reset:
		x.Reset()
	case response.Empty:
		x.Conn()
	case response.Garbage:
		_, _ = x.Conn().Write(garbage())
	case response.Malformed:
		out := bufio.NewReadWriter(nil, bufio.NewWriter(x.Conn()))
		writeMalformed(out, make(http.Header), a)
	}
}
