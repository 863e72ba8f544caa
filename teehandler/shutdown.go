// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// shutdown tells whether the server that a tee belongs to shuts down. From then
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
