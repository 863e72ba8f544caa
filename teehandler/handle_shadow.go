// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// handleShadow is a shadow made of Caddy's own handlers.
type handleShadow struct {
	chain caddyhttp.Handler
}

func newHandleShadow(routes caddyhttp.RouteList) *handleShadow {
	nobody := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })
	return &handleShadow{chain: routes.Compile(nobody)}
}

func (s *handleShadow) exchange(copied *snapshot, deadline time.Time, kept *keptResponse) (int, error) {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	r, err := copied.request(ctx)
	if err != nil {
		return 0, err
	}
	w := &discardingWriter{header: make(http.Header), left: maxShadowResponse}
	if kept != nil {
		w.left = max(w.left, int64(kept.capture.MaxBody))
	}
	var out http.ResponseWriter = w
	var watched *responseWriter
	if kept != nil {
		watched = watchResponse(w, r, kept)
		out = watched
	}
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), out, copied.origin.server)
	err = s.serve(out, r)
	status, stopped := w.result()
	if watched != nil {
		watched.end(err)
		kept.completed(stopped)
	}
	switch {
	case stopped: // on purpose
		return status, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, err
	case status == 0:
		return http.StatusOK, nil
	}
	return status, nil
}

// serve runs the handlers. Aborting a response is reverse_proxy's way to say
// that its upstream broke off.
func (s *handleShadow) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if value := recover(); value != nil {
			if value != http.ErrAbortHandler { //nolint:errorlint // compared as net/http does
				panic(value)
			}
			err = http.ErrAbortHandler
		}
	}()
	return s.chain.ServeHTTP(w, r)
}

func (s *handleShadow) close() {}

// request makes a request of the copy that shares nothing with the client's.
func (s *snapshot) request(ctx context.Context) (*http.Request, error) {
	target, err := url.ParseRequestURI(s.target)
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method:        s.method,
		URL:           target,
		RequestURI:    s.target,
		Proto:         s.origin.proto,
		ProtoMajor:    s.origin.major,
		ProtoMinor:    s.origin.minor,
		Header:        s.origin.header.Clone(),
		Host:          s.host,
		Trailer:       s.trailer.Clone(),
		RemoteAddr:    s.origin.remoteAddr,
		TLS:           s.origin.tls,
		Body:          http.NoBody,
		ContentLength: int64(len(s.body)),
	}
	if len(s.body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(s.body))
	}
	if len(s.body) > 0 || s.length {
		r.Header.Set("Content-Length", strconv.Itoa(len(s.body)))
	}
	return r.WithContext(ctx), nil
}

// discardingWriter is the response writer of a shadow's handlers, which may
// leave goroutines behind that write. It takes a bounded number of bytes and
// keeps none.
type discardingWriter struct {
	header http.Header

	mu     sync.Mutex
	status int
	left   int64 // how much it still takes
}

func (w *discardingWriter) Header() http.Header { return w.header }

func (w *discardingWriter) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
}

func (w *discardingWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left -= int64(len(p))
	if w.left < 0 {
		return 0, errEnough
	}
	return len(p), nil
}

// Flush lets handlers stream: there is nobody to wait for it.
func (w *discardingWriter) Flush() {}

// result returns the status, 0 if there was none, and reports whether the handlers
// were stopped since they had written enough.
func (w *discardingWriter) result() (status int, stopped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status, w.left < 0
}

var errEnough = errors.New("enough of the shadow's response was read")
