// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package record is recording inside Caddy, for every handler that does it: the
// record option in JSON and in a Caddyfile, recorders that outlive a reload,
// their metrics and log entries, and the describing of requests and responses.
package record

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// recorders holds the recorders by owner and options, so that one outlives the
// reloads that do not change it.
var recorders = caddy.NewUsagePool()

// exitPatience is how long requests may wait for a slow disk when Caddy exits.
const exitPatience = 5 * time.Second

// Recorder is a recorder that handlers of several configurations share.
type Recorder struct {
	*recorder.Recorder
	owner    owner
	key      string
	observer *observer
	uploads  *uploads // nil: files stay here
}

// Open returns the recorder that a handler has by its directive, its name and
// the options, which are refused if they cannot work. Nothing is written before
// the configuration has started. Every Open needs a Release.
//
// Metrics are caddy_blackhole_* with the label blackhole for a blackhole, and
// caddy_recording_* with the labels handler and name for any other handler.
func Open(ctx caddy.Context, handler, name string, options *Options) (*Recorder, error) {
	resolved := options.WithDefaults()
	var err error
	if resolved.Dir, err = checkedDir(options.Dir); err != nil {
		return nil, err
	}
	if resolved.RedactKey, err = caddy.NewReplacer().ReplaceOrErr(options.RedactKey, true, true); err != nil {
		return nil, fmt.Errorf("redact_key: %v", err)
	}
	if err := resolved.Check(); err != nil {
		return nil, err
	}
	address, err := storeOf(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	logger := ctx.Logger().With(zap.String(handler, name))
	observer, err := observe(ctx.GetMetricsRegistry(), owner{handler, name}, logger)
	if err != nil {
		return nil, err
	}
	r, err := acquire(owner{handler, name}, resolved, observer, address)
	if err != nil {
		return nil, err
	}
	if err := r.follow(ctx, logger); err != nil {
		_ = r.Release()
		return nil, err
	}
	return r, nil
}

// acquire returns the recorder of an owner and options, made if there is none,
// whose files go to a store unless the address is nil.
func acquire(of owner, options recorder.Options, observer *observer, store *objects.Address) (*Recorder, error) {
	key := fmt.Sprintf("%q %+v", of, options)
	if store != nil {
		key += " " + store.Key()
	}
	value, _, err := recorders.LoadOrNew(key, func() (caddy.Destructor, error) {
		r := &Recorder{Recorder: recorder.New(options, observer), owner: of, key: key, observer: observer}
		if store != nil {
			r.uploads = newUploads(store, &options, observer)
			observer.sendsTo(r.uploads)
		}
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*Recorder), nil
}

// Release ends the use of the recorder by one handler. With the last one, and
// the last request that it has, all is written and the file finished.
func (r *Recorder) Release() error {
	_, err := recorders.Delete(r.key)
	return err
}

// maxReleased is how many recorders are remembered that have nothing to do: a
// request that was slow to reach its own may still bring it something.
const maxReleased = 64

// released are recorders that no configuration uses, but perhaps a request
// that outlives its own.
var released struct {
	sync.Mutex
	recorders []*Recorder
}

// Destruct writes everything and finishes the file. When Caddy exits it only
// begins to: closeReleased waits for all recorders at the same time.
func (r *Recorder) Destruct() error {
	r.end(caddy.Exiting())
	return nil
}

func (r *Recorder) end(exiting bool) {
	if exiting {
		go r.Close()
	} else {
		r.Recorder.Close()
		if r.uploads != nil { // which nobody waits for
			go r.uploads.end()
		}
	}
	released.Lock()
	defer released.Unlock()
	released.recorders = append(released.recorders, r)
	recent := max(0, len(released.recorders)-maxReleased)
	older := slices.DeleteFunc(released.recorders[:recent], func(r *Recorder) bool { return !r.Running() })
	released.recorders = append(older, released.recorders[recent:]...)
}

// Close writes everything, finishes the file, and sends it where a store has
// it. It waits for neither disk nor store for long.
func (r *Recorder) Close() {
	r.Recorder.Close()
	if r.uploads != nil {
		r.uploads.end()
	}
}

func init() { lifecycle.Finish(closeReleased) }

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

// follow starts the recorder when the configuration comes into force, not when
// it is only validated, and ends it in time when Caddy exits.
func (r *Recorder) follow(ctx caddy.Context, logger *zap.Logger) error {
	if err := lifecycle.OnStart(ctx, func() {
		r.observer.logger.Store(logger)
		r.Start()
		if r.uploads != nil {
			r.uploads.start()
		}
		hintAtDroppedFields(ctx, logger)
	}); err != nil {
		return err
	}
	return lifecycle.OnExit(ctx, func() { time.AfterFunc(exitPatience, r.StopWaiting) })
}

// hintAtDroppedFields logs that Caddy drops header fields before any handler
// sees them, unless a server lists some that it does not.
func hintAtDroppedFields(ctx caddy.Context, logger *zap.Logger) {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		if len(server.ExpectedUnderscoreHeaders)+len(server.ExpectedDotHeaders) > 0 {
			return
		}
	}
	logger.Info("header fields with an underscore or a dot in their names are not recorded: Caddy drops them, " +
		"unless they are named in expected_underscore_headers or expected_dot_headers of the servers option")
}
