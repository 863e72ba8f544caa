// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(testHandler{})
	httpcaddyfile.RegisterHandlerDirective("express_test", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		t := new(testHandler)
		for h.Next() {
			args := h.RemainingArgs()
			t.Generation, t.Express = args[0], len(args) > 1
		}
		return t, nil
	})
}

// testHandler answers alike on Caddy's path and on the express path, except
// for the X-Path field, which says which one it was.
type testHandler struct {
	Generation string `json:"generation,omitempty"`
	Express    bool   `json:"express,omitempty"`

	pool *Pool
}

// asleep counts the requests that sleep on express connections.
var asleep atomic.Int64

func (testHandler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.express_test", New: func() caddy.Module { return new(testHandler) }}
}

func (t *testHandler) Provision(ctx caddy.Context) (err error) {
	if t.Express {
		t.pool, err = NewPool(ctx, "test", t)
		pools.Store(t.pool, t.Generation)
	}
	return err
}

// pools has every pool and its generation.
var pools sync.Map

// drains reports whether all pools of a generation are ending.
func drains(generation string) bool {
	all := true
	pools.Range(func(pool, of any) bool {
		all = all && (of != generation || pool.(*Pool).draining.Load())
		return all
	})
	return all
}

func (t *testHandler) Cleanup() error {
	t.pool.Close()
	return nil
}

// takenBy counts the connections that a generation has taken over.
func takenBy(generation string) int {
	count := 0
	pools.Range(func(pool, of any) bool {
		if of == generation {
			pool.(*Pool).each(func(*conn) { count++ })
		}
		return true
	})
	return count
}

// message is the answer to a request whose body has been read.
func (t *testHandler) message(method, target, path, host string, body []byte) []byte {
	if size, ok := strings.CutPrefix(path, "/bytes/"); ok {
		n, _ := strconv.Atoi(size)
		return bytes.Repeat([]byte("b"), n)
	}
	return fmt.Appendf(nil, "%s %s %s %s %q", t.Generation, method, target, host, body)
}

func (t *testHandler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if t.pool.TakeOver(w, r) {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return caddyhttp.Error(http.StatusBadRequest, err)
	}
	message := t.message(r.Method, r.RequestURI, r.URL.Path, r.Host, body)
	w.Header().Set("X-Path", "caddy")
	w.Header().Set("X-Scheme", "http")
	if r.TLS != nil {
		w.Header().Set("X-Scheme", "https")
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(message)))
	w.WriteHeader(statusOf(r.URL.RawQuery))
	w.Write(message)
	return nil
}

// largestIn and largestOut are the most that connections had buffered.
var largestIn, largestOut atomic.Int64

func atLeast(largest *atomic.Int64, n int) { largest.Store(max(largest.Load(), int64(n))) }

func (t *testHandler) TakesExpress(x *Exchange) bool { return !strings.HasPrefix(x.Path, "/caddy") }

func (t *testHandler) ServeExpress(x *Exchange) {
	atLeast(&largestIn, len(x.conn.in))
	atLeast(&largestOut, len(x.conn.out))
	fields := new(Fields)
	fields.Add("X-Path", "express")
	fields.Add("Content-Type", "text/plain")
	switch x.Path {
	case "/unread":
		x.Respond(http.StatusOK, fields)
		return
	case "/sleep":
		d, _ := time.ParseDuration(x.Query)
		asleep.Add(1)
		defer asleep.Add(-1)
		if !x.Sleep(d) {
			return
		}
	case "/reset":
		x.Reset()
		return
	case "/raw":
		io.WriteString(x.Conn(), "no HTTP at all")
		return
	case "/panic":
		panic("as the test wants it")
	case "/own":
		fields.Add("Server", "Own")
		fields.Add("Alt-Svc", "own")
		fields.Add("Connection", "close")
		fields.Add("Content-Length", "99")
		fields.Add("X-Split", "a\r\nb")
	case "/shared":
		length, _ := strconv.Atoi(x.Query)
		x.RespondFrom(http.StatusOK, fields, sharedBody(), length)
		return
	case "/silent":
		return
	case "/pieces":
		x.Start(http.StatusOK, fields, 9)
		for _, piece := range []string{"one", "two", "six"} {
			if _, err := io.WriteString(x, piece); err != nil {
				return
			}
			x.Sleep(time.Millisecond)
		}
		return
	}
	body, err := io.ReadAll(x)
	if err != nil {
		return
	}
	x.Respond(statusOf(x.Query), fields, t.message(x.Method, x.Target, x.Path, x.Host, body))
}

// statusOf reads a query like status=404.
func statusOf(query string) int {
	if status, err := strconv.Atoi(strings.TrimPrefix(query, "status=")); err == nil {
		return status
	}
	return http.StatusOK
}
