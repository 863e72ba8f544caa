// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// restGrace bounds how long the end of a response may have to wait for the rest
// of a body. It suffices for what has arrived already.
var restGrace = 20 * time.Millisecond

// restPause is how long reading goes on, where the client has its whole response
// already, while nothing comes.
var restPause = 200 * time.Millisecond

const (
	// serverDrains is how much of an unread HTTP/1 body net/http reads before
	// it sends the response's header, and throws away.
	serverDrains = 256 << 10

	// restPatience bounds the reading on where the client has its whole response
	// already.
	restPatience = 10 * time.Second

	// restPiece is the most that is read before it is asked whether to go on.
	restPiece = 64 << 10
)

// drainsFirst reports whether net/http reads the rest of this request's body
// before it sends a response, so that reading it first delays nothing.
func drainsFirst(w http.ResponseWriter, r *http.Request) bool {
	if r.ProtoMajor != 1 || r.ProtoMinor == 0 || r.Close || expectsContinue(r) {
		return false
	}
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server != nil && !server.EnableFullDuplex
}

func expectsContinue(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Expect"), "100-continue")
}

// guardedWriter captures the rest of an HTTP/1 body before the response would
// make net/http throw it away.
type guardedWriter struct {
	*caddyhttp.ResponseWriterWrapper
	body     *capture
	shutdown *shutdown
	guarded  bool
}

func guard(w http.ResponseWriter, body *capture, s *shutdown) *guardedWriter {
	body.guard = &guardedWriter{
		ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		body:                  body,
		shutdown:              s,
	}
	return body.guard
}

func (w *guardedWriter) Write(p []byte) (int, error) {
	w.secure()
	return w.ResponseWriterWrapper.Write(p)
}

func (w *guardedWriter) ReadFrom(r io.Reader) (int64, error) {
	w.secure()
	return w.ResponseWriterWrapper.ReadFrom(r)
}

func (w *guardedWriter) FlushError() error {
	w.secure()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// EnableFullDuplex is what a primary asks for that goes on reading after it has
// begun to respond. net/http leaves the body alone then.
func (w *guardedWriter) EnableFullDuplex() error {
	w.guarded = true
	return http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
}

// secure reads as much as net/http would. If the body goes on, net/http would
// close the connection after the response, and so does it now, without having
// touched what the primary or the copy may read still.
func (w *guardedWriter) secure() {
	if w.guarded {
		return
	}
	w.guarded = true
	if w.shutdown.begun.Load() || w.Header().Get("Connection") == "close" {
		return // net/http leaves the body alone
	}
	if w.body.remaining() <= serverDrains {
		w.body.readOn(serverDrains + 1) // with the end, if it is there
	}
	if w.body.remaining() > 0 {
		closeAfterReply(w.ResponseWriter)
	}
}

// closeAfterReply makes net/http do what it does after a body that is too
// large: announce the end of the connection, and linger so that the client can
// read the response. Exceeding a MaxBytesReader is the way to ask for that.
func closeAfterReply(w http.ResponseWriter) {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = wrapper.Unwrap()
	}
	exceeded := http.MaxBytesReader(w, io.NopCloser(strings.NewReader(".")), 0)
	_, _ = exceeded.Read(make([]byte, 1))
}

// remaining returns the least number of bytes that the body still has to come if
// it is worth capturing, 0 if it is not.
func (c *capture) remaining() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != capturing {
		return 0
	}
	return max(1, c.length-int64(len(c.buf)))
}

// takeRest reads what the primary has left of the body. A response with a
// length and has left keeps nobody waiting, unless its client waits for the
// end of the connection.
func (c *capture) takeRest(control *http.ResponseController, response http.Header, responded bool, s *shutdown) {
	c.takeOver(control, restGrace)
	if c.remaining() == 0 || c.expects && c.untouched() {
		return // reading on would ask the client to send its body
	}
	if c.guard != nil {
		c.guard.secure()
		if c.remaining() == 0 {
			return
		}
	}
	// whatever the protocol, what is there of the response need not wait
	left := responded && response.Get("Content-Length") != "" && control.Flush() == nil
	if left && c.http1 && !c.closes {
		// over HTTP/2 and 3 the stream has to be ended still
		c.readWhileItComes(control, s)
	} else if control.SetReadDeadline(time.Now().Add(restGrace)) == nil {
		c.readOn(c.limit + 1)
	}
	_ = control.SetReadDeadline(time.Time{})
}

// readWhileItComes reads on until the body ends, pauses, or takes too long, or
// the server shuts down.
func (c *capture) readWhileItComes(control *http.ResponseController, s *shutdown) {
	for end := time.Now().Add(restPatience); !s.begun.Load() && time.Now().Before(end); {
		if control.SetReadDeadline(time.Now().Add(restPause)) != nil {
			return
		}
		if !c.readSome(restPiece) {
			return
		}
	}
}

func (c *capture) untouched() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.started
}

// shutdown is whether the server that a tee belongs to shuts down. From then
// on net/http closes every connection behind its response, and so leaves unread
// bodies alone.
type shutdown struct {
	watched sync.Once
	begun   atomic.Bool
}

// watch is called with requests that may still be served then.
func (s *shutdown) watch(r *http.Request) {
	s.watched.Do(func() {
		if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
			server.RegisterOnShutdown(func() { s.begun.Store(true) })
		}
	})
}
