// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"strconv"
	"strings"
	"time"
)

// heartBeats are how often we can say that we are there, and how often we want to
// hear it, in milliseconds.
const (
	heartBeats = "10000,10000"
	heartBeat  = 10 * time.Second
)

// agree takes what the broker says of heart-beats: how often it can, and how often
// it wants them.
func (c *conn) agree(theirs string) {
	can, wants, _ := strings.Cut(theirs, ",")
	c.silence = 3 * periodOf(can)
	c.beat = periodOf(wants)
}

// longestBeat is how far heart-beats may be apart.
const longestBeat = 24 * time.Hour

// periodOf returns how far heart-beats are apart, by what a broker says in
// milliseconds; 0: there are none.
func periodOf(text string) time.Duration {
	ms, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || ms <= 0 {
		return 0
	}
	return max(heartBeat, time.Duration(min(ms, longestBeat.Milliseconds()))*time.Millisecond)
}
