// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"errors"
	"io"
	"net/http/httputil"

	"github.com/valyala/fasthttp"
)

// maxTrailers bounds the fields behind a chunked body.
const maxTrailers = 64 << 10

// drain reads the body of an answer to its end and drops it. What ends an
// endless one is the deadline of the connection.
func (c *http1) drain(m *Message, status int) error {
	if m.isHead() || status == fasthttp.StatusNoContent || status == fasthttp.StatusNotModified || tunnels(m, status) {
		return nil
	}
	switch length := c.head.ContentLength(); {
	case length >= 0:
		_, err := c.br.Discard(length)
		return err
	case length == -1:
		if _, err := io.Copy(io.Discard, httputil.NewChunkedReader(c.br)); err != nil {
			return err
		}
		return c.drainTrailers()
	default: // up to the end of the connection
		_, err := io.Copy(io.Discard, c.br)
		return err
	}
}

// drainTrailers reads what follows the last chunk, up to the empty line.
func (c *http1) drainTrailers() error {
	for read := 0; read < maxTrailers; {
		line, err := c.br.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 1 || len(line) == 2 && line[0] == '\r' {
			return nil
		}
		read += len(line)
	}
	return errors.New("trailers without an end")
}
