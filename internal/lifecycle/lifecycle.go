// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle lets handlers learn when their configuration comes into
// force and when Caddy exits, as opposed to replacing a configuration.
package lifecycle

import (
	"context"
	"slices"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
)

var (
	exits    = make(chan struct{})
	noteExit = sync.OnceFunc(func() { close(exits) })
)

// Exits returns a channel that is closed once when Caddy begins to exit, before
// its servers wait for requests. It is never closed unless a handler of the
// configuration that runs then has called OnExit or WatchExit.
func Exits() <-chan struct{} { return exits }

// WatchExit makes sure that the channel of Exits is closed when Caddy exits
// with the configuration of ctx. It is called by Provision.
func WatchExit(ctx caddy.Context) error { return OnExit(ctx, func() {}) }

// OnExit calls do when Caddy begins to exit with the configuration of ctx. It
// is called by Provision.
func OnExit(ctx caddy.Context, do func()) error {
	return on(ctx, "stopping", func() {
		if caddy.Exiting() {
			noteExit()
			do()
		}
	})
}

// OnStart calls do when the configuration of ctx has come into force, which one
// that is only validated never does. It is called by Provision.
func OnStart(ctx caddy.Context, do func()) error { return on(ctx, "started", do) }

// ending holds what is called at the end of the process: first whoever still
// sends something, then whoever may receive it.
var ending struct {
	sync.Mutex
	drain, finish []func()
}

// Drain registers do to be called at the end of the process, when all modules
// are cleaned up: it waits for what the process still has to send, for a
// limited time. It is called once for a package, by init.
func Drain(do func()) {
	ending.Lock()
	defer ending.Unlock()
	ending.drain = append(ending.drain, do)
}

// Finish registers do to be called at the end of the process, after all that
// Drain has registered: it closes what may be sent to until then. It is called
// once for a package, by init.
func Finish(do func()) {
	ending.Lock()
	defer ending.Unlock()
	ending.finish = append(ending.finish, do)
}

func init() { caddy.OnExit(func(context.Context) { end() }) }

func end() {
	ending.Lock()
	defer ending.Unlock()
	for _, do := range slices.Concat(ending.drain, ending.finish) {
		do()
	}
}

func on(ctx caddy.Context, event string, do func()) error {
	app, err := ctx.App("events")
	if err != nil {
		return err
	}
	return app.(*caddyevents.App).On(event, call(do))
}

// call is a function that an event calls.
type call func()

// Handle implements caddyevents.Handler.
func (do call) Handle(context.Context, caddy.Event) error {
	do()
	return nil
}

// Interface guard
var _ caddyevents.Handler = call(nil)
