// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// station is the two connections to a broker: requests come over one, and answers go
// over the other, so that a bad reply-to costs no request.
type station struct {
	logger atomic.Pointer[zap.Logger]
	office *office
	trunk  *trunk // nil: each address has a connection, as the protocol shares none
}

// stations outlive a configuration as long as the next one has their broker too.
var stations = caddy.NewUsagePool()

func newStation(name string, protocol broker.Protocol, logger *zap.Logger) *station {
	s := new(station)
	s.logger.Store(logger)
	s.office = newOffice(name, protocol, &s.logger)
	if protocol.Shares() {
		s.trunk = newTrunk(name, protocol, &s.logger)
	}
	return s
}

// Destruct closes both. What is still to be sent is given up.
func (s *station) Destruct() error {
	s.office.end()
	if s.trunk != nil {
		s.trunk.cancel()
	}
	return nil
}
