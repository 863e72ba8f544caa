// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

var faults = []response.Fault{response.Reset, response.Empty, response.Malformed, response.Garbage, response.Hang, response.Cut}

// Fault is a fault and the share of the responses that have it. As text it is
// the kind, and a percentage unless it is all of them: `reset 10`. All responses
// have the fault cut; the percentage is how much of the body they have.
type Fault struct {
	Kind    response.Fault
	Percent units.Percent
	// Delay is how long after its latency an answer with the fault late is sent.
	Delay Offset
}

// halfCut is how much of the body comes before a cut unless it is said.
const halfCut = 50

// ParseFault reads a fault from text.
func ParseFault(text string) (Fault, error) {
	kind, share, given := strings.Cut(text, " ")
	fault := Fault{Kind: response.Fault(kind), Percent: 100}
	if slices.Contains(messageFaults, fault.Kind) {
		return Fault{}, fmt.Errorf("'%s' is a fault of messages on queues: expected one of %v", kind, faults)
	}
	if !slices.Contains(faults, fault.Kind) {
		return Fault{}, fmt.Errorf("'%s' is not a fault: expected one of %v", kind, faults)
	}
	if fault.Kind == response.Cut {
		fault.Percent = halfCut
	}
	if !given {
		return fault, nil
	}
	var err error
	fault.Percent, err = units.ParsePercent(share)
	if err == nil && fault.Kind == response.Cut && fault.Percent == 100 {
		err = errors.New("nothing is cut off a body of which 100% are sent")
	}
	return fault, err
}

// Always reports whether all responses have the fault.
func (f Fault) Always() bool { return f.Percent == 100 || f.Kind == response.Cut }

// sendsBody reports whether a response with the fault has its whole body.
func (f Fault) sendsBody() bool {
	return f.Kind == response.Duplicate || f.Kind == response.Poison || f.Kind == response.Late
}

// String returns the text that ParseFault reads.
func (f Fault) String() string {
	text := string(f.Kind)
	if f.Kind == response.Late {
		text += " " + f.Delay.String()
	}
	if f.Percent == 100 {
		return text
	}
	return text + " " + f.Percent.String()
}

// MarshalText writes the fault as text.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Bandwidth is how many bytes of a body are sent in a second. As text it is a
// size with `/s` behind it: `100kb/s`.
type Bandwidth units.BinarySize

// ParseBandwidth reads a bandwidth from text.
func ParseBandwidth(text string) (Bandwidth, error) {
	perSecond, ok := strings.CutSuffix(text, "/s")
	if !ok {
		return 0, fmt.Errorf("'%s' is not a bandwidth: expected a size a second, like 100kb/s", text)
	}
	size, err := units.ParseBinarySize(perSecond)
	if err == nil && size == 0 {
		err = errors.New("a bandwidth of 0 sends nothing; the fault hang is for that")
	}
	return Bandwidth(size), err
}

// String returns the text that ParseBandwidth reads.
func (b Bandwidth) String() string { return units.BinarySize(b).String() + "/s" }

// MarshalText writes the bandwidth as text.
func (b Bandwidth) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Dribble is a body sent in so many chunks over a time. As text it is both:
// `10 5s`.
type Dribble struct {
	Chunks   int
	Duration Offset
}

// mostChunks bounds the work of planning a body.
const mostChunks = 1 << 20

// ParseDribble reads a dribble from text.
func ParseDribble(text string) (d Dribble, err error) {
	chunks, duration, ok := strings.Cut(text, " ")
	if !ok {
		return Dribble{}, fmt.Errorf("'%s' is not a number of chunks and a duration, like 10 5s", text)
	}
	if d.Chunks, err = strconv.Atoi(chunks); err != nil || d.Chunks < 1 || d.Chunks > mostChunks {
		return Dribble{}, fmt.Errorf("'%s' is not a number of chunks from 1 to %d", chunks, mostChunks)
	}
	d.Duration, err = ParseOffset(duration)
	return d, err
}

// String returns the text that ParseDribble reads.
func (d Dribble) String() string { return strconv.Itoa(d.Chunks) + " " + d.Duration.String() }

// MarshalText writes the dribble as text.
func (d Dribble) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
