// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"net/http"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
)

// failExpress lets a fault befall the answer on a connection that was taken
// over.
func failExpress(x *express.Exchange, a *answer.Answer) {
	switch a.Fault {
	case answer.NoFault:
	case answer.Hang:
		for x.Sleep(time.Hour) && x.Watched() {
		}
	case answer.Reset:
		x.Reset()
	case answer.Empty:
		x.Conn()
	case answer.Garbage:
		_, _ = x.Conn().Write(garbage())
	case answer.Malformed:
		out := bufio.NewReadWriter(nil, bufio.NewWriter(x.Conn()))
		writeMalformed(out, make(http.Header), a)
	}
}
