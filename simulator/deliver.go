// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/reply"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// stream sends a response whose body is a file, as long as it is now, takes its
// time, does not say its length, or breaks off. That the client leaves meanwhile
// is no fault of the server.
func stream(x exchange, a *response.Response) error {
	body, size, err := a.Content.Open()
	if err != nil {
		return caddyhttp.Error(http.StatusInternalServerError, err)
	}
	defer body.Close()
	out := x.start(a.Message, size)
	sent := size
	if a.Fault == response.Cut {
		sent = a.Cut(size)
	}
	if x.method() != http.MethodHead && !deliver(x, out, body, a.Pace.Plan(sent)) {
		return nil
	}
	if a.Fault == response.Cut {
		return x.breakOff(nil)
	}
	return x.end()
}

// deliver sends a body as planned, and reports whether the client was there to
// the end.
func deliver(x exchange, out io.Writer, body io.Reader, plan response.Plan) bool {
	begun := time.Now()
	for {
		due, n, more := plan.Next(time.Since(begun))
		if !more {
			return true
		}
		if wait := due - time.Since(begun); wait > 0 && x.sleep(wait) != nil {
			return false
		}
		if _, err := io.CopyN(out, body, n); err != nil {
			return false
		}
	}
}

// fail sends what a fault makes of a response.
func fail(x exchange, a *response.Response) error {
	switch a.Fault {
	case response.Hang:
		return x.hang()
	case response.Reset:
		return x.reset()
	case response.Malformed:
		return x.malformed(a.Message, garbage())
	case response.Garbage:
		return x.breakOff(garbage())
	case response.Empty, response.Cut, response.NoFault, response.Drop, response.Duplicate, response.Poison, response.Late: // the last are of queues
	}
	return x.breakOff(nil)
}

// garbageSize is how much comes where something else was expected, in bytes.
const garbageSize = 512

// garbage returns random bytes that begin neither a message nor a chunk.
func garbage() []byte {
	bytes := make([]byte, garbageSize)
	_, _ = rand.Read(bytes) // never fails
	for i := range bytes {
		bytes[i] |= 0x80
	}
	return bytes
}

// writeMalformed writes a head that announces chunks, then bytes that are none.
func writeMalformed(out io.Writer, header http.Header, m *response.Message, bytes []byte) {
	reply.SetHeader(header, m, 1)
	header.Del("Content-Length")
	header.Set("Transfer-Encoding", "chunked")
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n", m.Status, cmp.Or(m.Reason, http.StatusText(m.Status)))
	_ = header.Write(out)
	_, _ = io.WriteString(out, "\r\n")
	_, _ = out.Write(bytes)
}
