// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"io"
	"time"
)

// maxDrained is how much of a body that the handler left unread is read after
// the answer, so that the connection can go on; net/http reads as much.
const maxDrained = 256 << 10

// Read reads the request's body, to io.EOF. Read and write timeouts of the
// server apply; a client that breaks off gives io.ErrUnexpectedEOF.
func (x *Exchange) Read(p []byte) (int, error) {
	if x.unread == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > x.unread {
		p = p[:x.unread]
	}
	n, err := x.conn.readBody(p, x.first)
	x.unread -= int64(n)
	if err != nil {
		x.last = true
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// drain reads what the handler left of the body, and reports whether the
// connection can go on.
func (x *Exchange) drain() bool {
	if x.unread > maxDrained {
		return false
	}
	return x.Discard() == nil
}

// Discard reads what is left of the body for nothing.
func (x *Exchange) Discard() error {
	skipped := min(int64(len(x.conn.buffered())), x.unread)
	x.conn.start += int(skipped)
	x.unread -= skipped
	if x.unread == 0 {
		return nil
	}
	_, err := io.Copy(io.Discard, x)
	return err
}

// readBody reads into p, first what is buffered.
func (c *conn) readBody(p []byte, first time.Time) (int, error) {
	if n := copy(p, c.buffered()); n > 0 {
		c.start += n
		return n, nil
	}
	c.flush()
	c.deadlines.read(c.net, c.limits.readIdle, first, c.limits.read)
	return c.net.Read(p)
}
