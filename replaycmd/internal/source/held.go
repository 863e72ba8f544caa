// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import "github.com/caddy-rehearsal/rehearsal/internal/recording"

// held is a copy of a record in memory of its own.
type held struct {
	recording.Copy
	time     int64 // TimeNS, or that of the record before if it has none
	order    int64 // of reading
	streamed bool  // it comes from a stream
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
