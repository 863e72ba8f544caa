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

	logger  *zap.Logger
	brokers map[string]broker.Protocol
	intakes []*intake // made by Provision, and begun by Start if none like it runs
	keys    []string  // of those that this configuration holds
}

// CaddyModule returns the Caddy module information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "queue_simulator", New: func() caddy.Module { return new(App) }}
}

// intakes outlive a configuration as long as the next one has them too.
var intakes = caddy.NewUsagePool()

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

// prepare checks a service and gives it what it does not say. The error begins with
// the field.
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

// group makes an intake of the services on each address of a broker.
func (a *App) group() error {
	byPlace := make(map[[2]string]*intake)
	for i, s := range a.Services {
		p, err := s.load()
		if err != nil {
			return fmt.Errorf("services[%d].%w", i, err)
		}
		place := [2]string{s.Broker, s.Address}
		in := byPlace[place]
		if in == nil {
			in = &intake{address: s.Address, broker: s.Broker, protocol: a.brokers[s.Broker]}
			byPlace[place] = in
			a.intakes = append(a.intakes, in)
		}
		in.players = append(in.players, p)
		in.credit = max(in.credit, s.Concurrency)
		in.grace = max(in.grace, time.Duration(s.GracePeriod))
	}
	return nil
}

// Start begins to receive, in the background.
func (a *App) Start() error {
	for _, prepared := range a.intakes {
		key, err := prepared.key()
		if err != nil {
			return err
		}
		value, _, err := intakes.LoadOrNew(key, func() (caddy.Destructor, error) {
			return prepared, a.begin(prepared)
		})
		if err != nil {
			return err
		}
		a.keys = append(a.keys, key)
		running := value.(*intake)
		running.logger.Store(a.logger)
		running.station.logger.Store(a.logger)
		if running != prepared {
			for _, p := range prepared.players {
				p.end()
			}
		}
	}
	a.intakes = nil
	return nil
}

// begin puts an intake in force.
func (a *App) begin(in *intake) error {
	in.logger.Store(a.logger)
	for _, p := range in.players {
		if err := p.begin(a.logger); err != nil {
			return err
		}
	}
	key := in.broker + "\n" + in.protocol.Key()
	value, _, err := stations.LoadOrNew(key, func() (caddy.Destructor, error) {
		return newStation(in.broker, in.protocol, a.logger), nil
	})
	if err != nil {
		return err
	}
	in.station = value.(*station)
	in.release = func() { _, _ = stations.Delete(key) }
	in.begin()
	return nil
}

// key returns what the intake is known by across configurations: the broker, and
// the services with the files that they serve.
func (in *intake) key() (string, error) {
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	if err := encoder.Encode([]string{in.broker, in.protocol.Key(), in.address}); err != nil {
		return "", err
	}
	for _, p := range in.players {
		if err := encoder.Encode(p.Service); err != nil {
			return "", err
		}
		for _, m := range p.loaded {
			fixed, _ := m.Fixed()
			sum.Write(m.JSON())
			sum.Write(fixed.Body)
		}
		if p.scenario == nil {
			continue
		}
		for _, r := range p.scenario.Recipes() {
			for field, name := range r.BodyFiles() {
				info, err := os.Stat(name)
				if err != nil {
					return "", fmt.Errorf("service %s: %s: %w", p.Name, field, units.LookedIn(err, name))
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
		_, e := intakes.Delete(key)
		err = errors.Join(err, e)
	}
	a.keys = nil
	return err
}

// Cleanup lets go of what was read and never started.
func (a *App) Cleanup() error {
	for _, in := range a.intakes {
		for _, p := range in.players {
			p.end()
		}
	}
	a.intakes = nil
	return nil
}

// running returns the intakes that run, sorted by broker and address.
func running() []*intake {
	var all []*intake
	intakes.Range(func(_, value any) bool {
		if in, ok := value.(*intake); ok {
			all = append(all, in)
		}
		return true
	})
	slices.SortFunc(all, func(a, b *intake) int {
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
