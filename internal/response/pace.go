// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import "time"

// Pace is how a body is spread over time: by bandwidth, or in so many chunks
// over a time. The zero value sends it at once.
type Pace struct {
	// Bandwidth is in bytes a second.
	Bandwidth int64
	Chunks    int
	Duration  time.Duration
}

// ticks is how many writes a second a bandwidth is made of.
const ticks = 20

// Plan is the schedule by which a body is sent: how many bytes are due when,
// piece by piece.
type Plan struct {
	size, sent int64
	chunk      int64         // the size of all pieces but the first ones, which may be larger by 1
	larger     int64         // how many pieces are larger
	every      time.Duration // from piece to piece; 0: by bandwidth
	bandwidth  int64
	pieces     int64
}

// Plan plans a body of a size.
func (p Pace) Plan(size int64) Plan {
	if p.Chunks > 0 && size > 0 {
		pieces := min(int64(p.Chunks), size)
		return Plan{size: size, chunk: size / pieces, larger: size % pieces, every: p.Duration / time.Duration(pieces)}
	}
	if p.Bandwidth > 0 {
		return Plan{size: size, chunk: max(p.Bandwidth/ticks, 1), bandwidth: p.Bandwidth}
	}
	return Plan{size: size, chunk: size}
}

// Next returns when the next piece is due and its size in bytes, given the time
// that has elapsed; both times count from the header. Pieces that are due already
// are joined into one, so that who is late has less to do. After the last piece
// more is false.
func (p *Plan) Next(elapsed time.Duration) (due time.Duration, n int64, more bool) {
	for p.sent < p.size {
		piece := p.piece()
		at := p.due(p.sent + piece)
		if n > 0 && at > elapsed {
			break
		}
		p.pieces++
		p.sent += piece
		due, n = at, n+piece
	}
	return due, n, n > 0
}

// piece returns the size of the next piece in bytes.
func (p *Plan) piece() int64 {
	size := p.chunk
	if p.pieces < p.larger {
		size++
	}
	return min(size, p.size-p.sent)
}

// due returns the time, from the header, at which the next piece is due, with
// which sent bytes of the body are out.
func (p *Plan) due(sent int64) time.Duration {
	if p.bandwidth > 0 {
		return time.Duration(float64(sent) / float64(p.bandwidth) * float64(time.Second))
	}
	return time.Duration(p.pieces+1) * p.every
}
