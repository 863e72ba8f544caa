// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package queues is a Caddy app that answers messages on queues as a simulator
// answers requests: it receives from an address of a broker, chooses an answer by
// matching, waits, and sends it to where the request says.
package queues

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	_ "github.com/caddy-rehearsal/rehearsal/queues/amqp" // the protocols that there are
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	_ "github.com/caddy-rehearsal/rehearsal/queues/stomp"
)

func init() {
	caddy.RegisterModule(App{})
	lifecycle.Drain(ending.Wait)
}

// App answers messages on queues.
//
// A broker that is down is no error: connections are made in the background, again
// and again. What runs belongs to the configuration of a broker and of the services
// on an address: a reload that changes neither leaves connections, clocks and
// requests in hand as they are.
type App struct {
	// The brokers, by name.
	BrokersRaw map[string]json.RawMessage `json:"brokers,omitempty" caddy:"namespace=queue_simulator.brokers inline_key=protocol"`

	// The services. Of several on an address of a broker, the first one that matches
	// a request answers it.
	Services []*Service `json:"services,omitempty"`

	logger    *zap.Logger
	brokers   map[string]broker.Protocol
	receivers []*receiver // made by Provision, and begun by Start if none like it runs
	keys      []string    // of those that this configuration holds
}

// CaddyModule returns the Caddy module information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "queue_simulator", New: func() caddy.Module { return new(App) }}
}

// receiverPool has the receivers that run, which outlive a configuration as long as the
// next one has them too.
var receiverPool = caddy.NewUsagePool()

// Provision reads all that there is to read, and connects to nothing.
func (a *App) Provision(ctx caddy.Context) error {
	a.logger = ctx.Logger()
	if err := metrics.Register(ctx.GetMetricsRegistry(), collectors()...); err != nil {
		return err
	}
	if err := lifecycle.WatchExit(ctx); err != nil {
		return err
	}
	loaded, err := ctx.LoadModule(a, "BrokersRaw")
	if err != nil {
		return fmt.Errorf("brokers: %w", err)
	}
	a.brokers = make(map[string]broker.Protocol)
	for name, module := range loaded.(map[string]any) {
		protocol, ok := module.(broker.Protocol)
		if !ok {
			return fmt.Errorf("brokers.%s: %T is no protocol for queues", name, module)
		}
		a.brokers[name] = protocol
	}
	names := make(map[string]bool)
	for i, s := range a.Services {
		if err := a.prepare(s, names); err != nil {
			return fmt.Errorf("services[%d].%w", i, err)
		}
	}
	return a.group()
}

// prepare checks a service and sets its name, and its broker if there is one alone.
// The error begins with the field.
func (a *App) prepare(s *Service, names map[string]bool) error {
	if s.Broker == "" && len(a.brokers) == 1 {
		for name := range a.brokers {
			s.Broker = name
		}
	}
	if a.brokers[s.Broker] == nil {
		return fmt.Errorf("broker: there is no broker '%s': expected one of %v", s.Broker, slices.Sorted(maps.Keys(a.brokers)))
	}
	if err := s.check(); err != nil {
		return err
	}
	unique := func(name string) bool {
		key := s.Broker + "\n" + name
		taken := names[key]
		names[key] = true
		return !taken
	}
	if s.Name != "" {
		if !unique(s.Name) {
			return fmt.Errorf("name: two services of a broker are called '%s'", s.Name)
		}
		return nil
	}
	s.Name = s.Address
	for n := 2; !unique(s.Name); n++ {
		s.Name = s.Address + "#" + strconv.Itoa(n)
	}
	return nil
}

// group makes a receiver of the services on each address of a broker.
func (a *App) group() error {
	byPlace := make(map[[2]string]*receiver)
	for i, s := range a.Services {
		svc, err := s.load()
		if err != nil {
			return fmt.Errorf("services[%d].%w", i, err)
		}
		place := [2]string{s.Broker, s.Address}
		rc := byPlace[place]
		if rc == nil {
			rc = &receiver{address: s.Address, broker: s.Broker, protocol: a.brokers[s.Broker]}
			byPlace[place] = rc
			a.receivers = append(a.receivers, rc)
		}
		rc.services = append(rc.services, svc)
		rc.credit = max(rc.credit, s.Concurrency)
		rc.grace = max(rc.grace, time.Duration(s.GracePeriod))
	}
	return nil
}

// Start begins to receive, in the background.
func (a *App) Start() error {
	for len(a.receivers) > 0 {
		if err := a.start(a.receivers[0]); err != nil {
			return errors.Join(err, a.Stop()) // Caddy does not stop an app that did not start
		}
		a.receivers = a.receivers[1:]
	}
	return nil
}

// start has a receiver begin, unless one like it runs.
func (a *App) start(prepared *receiver) error {
	key, err := prepared.key()
	if err != nil {
		return err
	}
	value, _, err := receiverPool.LoadOrNew(key, func() (caddy.Destructor, error) {
		return prepared, a.begin(prepared)
	})
	if err != nil {
		return err
	}
	a.keys = append(a.keys, key)
	running := value.(*receiver)
	running.logger.Store(a.logger)
	running.conns.logger.Store(a.logger)
	if running != prepared {
		prepared.discard()
	}
	return nil
}

// begin has a receiver begin, over the connections to its broker.
func (a *App) begin(rc *receiver) error {
	rc.logger.Store(a.logger)
	for _, svc := range rc.services {
		if err := svc.begin(a.logger); err != nil {
			return err
		}
	}
	key := rc.broker + "\n" + rc.protocol.Key()
	value, _, err := connectionPool.LoadOrNew(key, func() (caddy.Destructor, error) {
		return newConnections(rc.broker, rc.protocol, a.logger), nil
	})
	if err != nil {
		return err
	}
	rc.conns = value.(*connections)
	rc.release = func() { _, _ = connectionPool.Delete(key) }
	rc.begin()
	return nil
}

// key returns what the receiver is known by across configurations: the broker, and
// the services with the files that they serve.
func (rc *receiver) key() (string, error) {
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	if err := encoder.Encode([]string{rc.broker, rc.protocol.Key(), rc.address}); err != nil {
		return "", err
	}
	for _, svc := range rc.services {
		if err := encoder.Encode(svc.Service); err != nil {
			return "", err
		}
		for _, m := range svc.loaded {
			fixed, _ := m.Fixed()
			sum.Write(m.JSON())
			sum.Write(fixed.Body)
		}
		if svc.scenario == nil {
			continue
		}
		for _, r := range svc.scenario.Recipes() {
			for field, name := range r.BodyFiles() {
				info, err := os.Stat(name)
				if err != nil {
					return "", fmt.Errorf("service %s: %s: %w", svc.Name, field, units.LookedIn(err, name))
				}
				fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Stop lets go of what runs. What the next configuration does not have lets no more
// requests come, and answers those that sleep for a while: in the background at a
// reload, and before an exit.
func (a *App) Stop() (err error) {
	for _, key := range a.keys {
		_, e := receiverPool.Delete(key)
		err = errors.Join(err, e)
	}
	a.keys = nil
	return err
}

// Cleanup lets go of what was read and never started.
func (a *App) Cleanup() error {
	for _, rc := range a.receivers {
		rc.discard()
	}
	a.receivers = nil
	return nil
}

// running returns the receivers that run, sorted by broker and address.
func running() []*receiver {
	var all []*receiver
	receiverPool.Range(func(_, value any) bool {
		if rc, ok := value.(*receiver); ok {
			all = append(all, rc)
		}
		return true
	})
	slices.SortFunc(all, func(a, b *receiver) int {
		return slices.Compare([]string{a.broker, a.address}, []string{b.broker, b.address})
	})
	return all
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
