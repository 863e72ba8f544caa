// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bandwidth is how many bytes of a body are sent in a second. As text it is a
// size with `/s` behind it: `100kb/s`.
type Bandwidth Size

// ParseBandwidth reads a bandwidth from text.
func ParseBandwidth(text string) (Bandwidth, error) {
	perSecond, ok := strings.CutSuffix(text, "/s")
	if !ok {
		return 0, fmt.Errorf("'%s' is not a bandwidth: expected a size a second, like 100kb/s", text)
	}
	size, err := ParseSize(perSecond)
	if err == nil && size == 0 {
		err = errors.New("a bandwidth of 0 sends nothing; the fault hang is for that")
	}
	return Bandwidth(size), err
}

// String gives the text that ParseBandwidth reads.
func (b Bandwidth) String() string { return Size(b).String() + "/s" }

// MarshalText writes the bandwidth as text.
func (b Bandwidth) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Dribble is a body sent in so many chunks over a time. As text it is both:
// `10 5s`.
type Dribble struct {
	Chunks   int
	Duration Offset
}

// ParseDribble reads a dribble from text.
func ParseDribble(text string) (d Dribble, err error) {
	chunks, duration, ok := strings.Cut(text, " ")
	if !ok {
		return Dribble{}, fmt.Errorf("'%s' is not a number of chunks and a duration, like 10 5s", text)
	}
	if d.Chunks, err = strconv.Atoi(chunks); err != nil || d.Chunks < 1 {
		return Dribble{}, fmt.Errorf("'%s' is not a number of chunks", chunks)
	}
	d.Duration, err = ParseOffset(duration)
	return d, err
}

// String gives the text that ParseDribble reads.
func (d Dribble) String() string { return strconv.Itoa(d.Chunks) + " " + d.Duration.String() }

// MarshalText writes the dribble as text.
func (d Dribble) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
