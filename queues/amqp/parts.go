// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// parts are what has come of a message that comes in several frames. These are held back
// until all are there, so that a message that cannot be decoded can be replaced.
type parts struct {
	payload []byte
	held    [][]byte // frames
	lengths []int    // of their payloads
	early   bool     // they are not held back any more
}

// How much of a message is held back. Brokers wait for word that frames have been
// read, and the library has to read them for that.
const (
	mostHeld      = 1000 // frames
	mostHeldBytes = 16 << 20
)

// add adds a frame, and returns the frames that can be decoded now.
func (p *parts) add(frame, payload []byte, more bool) ([]byte, error) {
	if len(p.payload)+len(payload) > largestMessage {
		return nil, fmt.Errorf("the broker sends a message of more than %d bytes", largestMessage)
	}
	p.payload = append(p.payload, payload...)
	p.held = append(p.held, slices.Clone(frame))
	p.lengths = append(p.lengths, len(payload))
	switch {
	case !more && !wellFormed(p.payload):
		if p.early {
			return nil, errors.New("the broker sends a message that is not well formed")
		}
		p.empty()
	case more && !p.early && len(p.held) < mostHeld && len(p.payload) < mostHeldBytes:
		return nil, nil
	case more:
		p.early = true
	}
	return p.release(), nil
}

// empty makes of the message one without anything, in as many frames.
func (p *parts) empty() {
	for i, frame := range p.held {
		p.held[i] = withPayload(frame, p.lengths[i], nil)
	}
	p.held[0] = withPayload(p.held[0], 0, nothing)
}

// release returns the frames that are held back, which they are no longer. There may be
// no parts.
func (p *parts) release() []byte {
	if p == nil {
		return nil
	}
	held := slices.Concat(p.held...)
	p.held, p.lengths = nil, nil
	return held
}

// release returns what is held back on a channel, but for some parts: nothing that comes
// later on a channel is read before.
func (w *wire) release(channel uint64, but *parts) (held []byte) {
	for key, p := range w.parts {
		if key>>32 == channel && p != but && p.held != nil {
			held = append(held, p.release()...)
			p.early = true
		}
	}
	return held
}

// behind returns a frame behind others, of which there are mostly none.
func behind(others, frame []byte) []byte {
	if len(others) == 0 {
		return frame
	}
	return append(others, frame...)
}

// withPayload returns a frame with another payload in place of the one that it has, of a
// length.
func withPayload(frame []byte, length int, payload []byte) []byte {
	head := len(frame) - length
	frame = append(frame[:head:head], payload...)
	binary.BigEndian.PutUint32(frame, uint32(len(frame))) //nolint:gosec // at most largestFrame
	return frame
}
