// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

var faults = []response.Fault{response.Reset, response.Empty, response.Malformed, response.Garbage, response.Hang}

// Fault is a fault and the share of the answers that it befalls. As text it is
// the kind, and a percentage unless it is all of them: `reset 10`.
type Fault struct {
	Kind    response.Fault
	Percent units.Percent
}

// ParseFault reads a fault from text.
func ParseFault(text string) (Fault, error) {
	kind, share, partly := strings.Cut(text, " ")
	fault := Fault{response.Fault(kind), 100}
	if !slices.Contains(faults, fault.Kind) {
		return Fault{}, fmt.Errorf("'%s' is not a fault: expected one of %v", kind, faults)
	}
	if !partly {
		return fault, nil
	}
	var err error
	fault.Percent, err = units.ParsePercent(share)
	return fault, err
}

// Always tells whether no answer is spared.
func (f Fault) Always() bool { return f.Percent == 100 }

// String gives the text that ParseFault reads.
func (f Fault) String() string {
	if f.Always() {
		return string(f.Kind)
	}
	return string(f.Kind) + " " + f.Percent.String()
}

// MarshalText writes the fault as text.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }
