// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// recorders holds the recorders by name of the blackhole and options, so that
// one outlives the reloads that do not change it.
var recorders = caddy.NewUsagePool()

// exitPatience is how long requests may wait for a slow disk when Caddy exits.
const exitPatience = 5 * time.Second

// sharedRecorder is a recorder that the handlers of several configurations use.
type sharedRecorder struct {
	*recorder.Recorder
	key    string
	name   string
	logger atomic.Pointer[zap.Logger] // of the configuration that runs
}

// acquire gives the recorder of a blackhole. It is to be released as often.
func acquire(name string, options recorder.Options, logger *zap.Logger, m *blackholeMetrics) (*sharedRecorder, error) {
	key := fmt.Sprintf("%q %+v", name, options)
	value, _, err := recorders.LoadOrNew(key, func() (caddy.Destructor, error) {
		s := &sharedRecorder{key: key, name: name}
		s.logger.Store(logger)
		s.Recorder = recorder.New(options, &observer{metrics: m, logger: &s.logger})
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*sharedRecorder), nil
}

func (s *sharedRecorder) release() error {
	_, err := recorders.Delete(s.key)
	return err
}

// mostReleased is how many recorders are remembered that have nothing to do: a
// request that was slow to reach its own may still bring it something.
const mostReleased = 64

// released are recorders that no configuration uses, but perhaps a request
// that outlives its own.
var released struct {
	sync.Mutex
	recorders []*sharedRecorder
}

// Destruct has everything written and the file finished. When Caddy exits it
// only begins with that: closeReleased waits for all recorders at the same time.
func (s *sharedRecorder) Destruct() error {
	s.end(caddy.Exiting())
	return nil
}

func (s *sharedRecorder) end(exiting bool) {
	if exiting {
		go s.Close()
	} else {
		s.Close()
	}
	released.Lock()
	defer released.Unlock()
	released.recorders = append(released.recorders, s)
	recent := max(0, len(released.recorders)-mostReleased)
	older := slices.DeleteFunc(released.recorders[:recent], func(r *sharedRecorder) bool { return !r.Running() })
	released.recorders = append(older, released.recorders[recent:]...)
}

func init() { caddy.OnExit(func(context.Context) { closeReleased() }) }

// closeReleased waits until all is written that requests brought to recorders
// before and after these were released. Caddy calls it at the end of a process
// when all modules are cleaned up, in no certain order: a tee may send its last
// copies after a blackhole behind it is released.
func closeReleased() {
	released.Lock()
	defer released.Unlock()
	var closing sync.WaitGroup
	for _, r := range released.recorders {
		closing.Go(r.Close)
	}
	closing.Wait()
}

// follow has the recorder start with the configuration, not when it is merely
// validated, and end in time with the process.
func (s *sharedRecorder) follow(ctx caddy.Context, logger *zap.Logger) error {
	app, err := ctx.App("events")
	if err != nil {
		return err
	}
	events := app.(*caddyevents.App)
	if err := events.On("started", onEvent(func() {
		s.logger.Store(logger)
		s.Start()
	})); err != nil {
		return err
	}
	return events.On("stopping", onEvent(func() {
		if caddy.Exiting() {
			time.AfterFunc(exitPatience, s.StopWaiting)
		}
	}))
}

// onEvent is a function that an event calls.
type onEvent func()

// Handle calls the function.
func (f onEvent) Handle(context.Context, caddy.Event) error {
	f()
	return nil
}
