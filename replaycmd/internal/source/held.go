// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import "github.com/caddy-rehearsal/rehearsal/internal/recording"

// held is a copy of a record in memory of its own.
type held struct {
	recording.Request
	response recording.Response // of the request, if it has one
	memory   []byte
	time     int64 // TimeNS, or that of the record before if it has none
	order    int64 // of reading
	streamed bool  // it comes from a stream
}

// maxKept is the memory beyond which a copy isn't kept for another record.
const maxKept = 256 << 10

// hold copies a record into h, with its response.
func (h *held) hold(r *recording.Request) {
	h.Request = recording.Request{TimeNS: r.TimeNS, BodySize: r.BodySize}
	response := r.Response
	if response != nil {
		h.Request.Response = &h.response
	} else {
		response = new(recording.Response)
	}
	h.response = recording.Response{Status: response.Status, BodySize: response.BodySize, DurationNS: response.DurationNS}
	memory := h.memory[:0]
	if cap(memory) > maxKept {
		memory = nil
	}
	size := 0
	parts := [...]struct {
		to   *[]byte
		from []byte
	}{
		{&h.ID, r.ID},
		{&h.Method, r.Method},
		{&h.URI, r.URI},
		{&h.Headers, r.Headers},
		{&h.Body, r.Body},
		{&h.Scheme, r.Scheme},
		{&h.Host, r.Host},
		{&h.Proto, r.Proto},
		{&h.Remote, r.Remote},
		{&h.Trailers, r.Trailers},
		{&h.Error, r.Error},
		{&h.response.Headers, response.Headers},
		{&h.response.Body, response.Body},
		{&h.response.Trailers, response.Trailers},
		{&h.response.Error, response.Error},
	}
	for _, part := range parts {
		size += len(part.from)
	}
	if cap(memory) < size {
		memory = make([]byte, 0, size)
	}
	for _, part := range parts {
		if part.from == nil {
			continue
		}
		at := len(memory)
		memory = append(memory, part.from...)
		*part.to = memory[at:len(memory):len(memory)]
	}
	h.memory = memory
}

// heldHeap is a heap of copies by time, and by the order of reading within that.
type heldHeap []*held

func (h heldHeap) Len() int { return len(h) }

func (h heldHeap) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].order < h[j].order
}

func (h heldHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heldHeap) Push(x any) { *h = append(*h, x.(*held)) }

func (h *heldHeap) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
