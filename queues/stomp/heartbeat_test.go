// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// TestHeartBeats holds what is agreed on: never more often than we want it, and
// nothing that a broker can say makes it never or wrong.
func TestHeartBeats(t *testing.T) {
	for theirs, want := range map[string][2]time.Duration{
		"":                            {0, 0},
		"0,0":                         {0, 0},
		"1,1":                         {3 * heartBeat, heartBeat},
		"20000,40000":                 {time.Minute, 40 * time.Second},
		" 20000 , 0 ":                 {time.Minute, 0},
		"-1,-1":                       {0, 0},
		"a,b":                         {0, 0},
		"20000":                       {time.Minute, 0},
		"9999999999999999999,1":       {0, heartBeat},
		"1,9999999999999999999":       {3 * heartBeat, 0},
		"9223372036854775807,1":       {longestBeat * 3, heartBeat},
		"1,9223372036854775807":       {3 * heartBeat, longestBeat},
		"4611686018428,4611686018428": {longestBeat * 3, longestBeat},
	} {
		c := &conn{}
		c.agree(theirs)
		if got := [2]time.Duration{c.silence, c.beat}; got != want {
			t.Errorf("%q: got %v, want %v", theirs, got, want)
		}
	}
}

// TestSilenceEndsAConnection has a broker that promised heart-beats and is gone; one
// that keeps its promise stays.
func TestSilenceEndsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connectTo(t, "CONNECTED\nversion:1.2\nheart-beat:10000,0\n\n\x00")
		go func() {
			for p.next() != nil { //nolint:revive // reads, so that we can write
			}
		}()
		for range 10 {
			time.Sleep(10 * time.Second)
			p.say("\n")
		}
		select {
		case <-c.Done():
			t.Fatal(c.Err())
		default:
		}
		began := time.Now()
		<-c.Done()
		if took := time.Since(began); took != 3*heartBeat {
			t.Errorf("it ended after %s", took)
		}
	})
}

// TestBeats has a broker that wants heart-beats.
func TestBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := connectTo(t, "CONNECTED\nversion:1.2\nheart-beat:0,10000\n\n\x00")
		began := time.Now()
		for range 5 {
			if b, err := p.in.ReadByte(); err != nil || b != '\n' {
				t.Fatalf("got %q %v", b, err)
			}
		}
		if took := time.Since(began); took != 5*heartBeat {
			t.Errorf("five came in %s", took)
		}
	})
}

// TestStuckBroker has a broker that takes nothing any more: that ends the connection,
// and what is under way on it fails.
func TestStuckBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connectTo(t, connected)
		failed := make(chan error, 1)
		c.Send(&broker.Message{Address: "/queue/a"}, func(err error) { failed <- err })
		began := time.Now()
		if err := <-failed; !errors.Is(err, broker.ErrLost) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != writeTimeout {
			t.Errorf("it took %s", took)
		}
	})
}
