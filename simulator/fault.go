// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net/http"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// garbageSize is how much comes where something else was expected.
const garbageSize = 512

// fail lets a fault befall an answer.
func fail(w http.ResponseWriter, r *http.Request, a *response.Response) error {
	if a.Fault == response.Hang {
		return hang(r)
	}
	if r.ProtoMajor > 1 {
		failStream(w, r, a)
	}
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("taking over the connection for a fault: %v", err)
	}
	defer conn.Close()
	switch a.Fault { //nolint:exhaustive // the others only need the connection closed
	case response.Reset:
		express.Reset(conn)
	case response.Malformed:
		writeMalformed(out, w.Header(), a)
	case response.Garbage:
		_, _ = out.Write(garbage())
		_ = out.Flush()
	}
	return nil
}

// hang answers nothing for as long as the client stays.
func hang(r *http.Request) error {
	select {
	case <-r.Context().Done():
	case <-lifecycle.Exits():
	}
	panic(http.ErrAbortHandler)
}

// failStream ends a stream of HTTP/2 or 3 with an error, behind the header and
// a piece of a body if the answer is to be malformed.
func failStream(w http.ResponseWriter, r *http.Request, a *response.Response) {
	if a.Fault == response.Malformed {
		setFields(w.Header(), a.Message, r.ProtoMajor)
		w.Header().Del("Content-Length")
		w.WriteHeader(a.Status)
		_, _ = w.Write(garbage())
		_ = http.NewResponseController(w).Flush()
	}
	panic(http.ErrAbortHandler)
}

// writeMalformed sends a header that announces chunks, and then none.
func writeMalformed(out *bufio.ReadWriter, header http.Header, a *response.Response) {
	setFields(header, a.Message, 1)
	header.Del("Content-Length")
	header.Set("Transfer-Encoding", "chunked")
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	_ = header.Write(out)
	_, _ = out.WriteString("\r\n")
	_, _ = out.Write(garbage())
	_ = out.Flush()
}

// garbage gives random bytes that begin neither a message nor a chunk.
func garbage() []byte {
	bytes := make([]byte, garbageSize)
	_, _ = rand.Read(bytes) // never fails
	for i := range bytes {
		bytes[i] |= 0x80
	}
	return bytes
}
