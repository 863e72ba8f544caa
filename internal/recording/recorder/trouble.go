// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"sync"
	"time"
)

// reportEvery is the least time between two reports of the same operation.
const reportEvery = time.Minute

// troubles gathers what goes wrong so that a log gets a line a minute.
type troubles struct {
	observer Observer
	mu       sync.Mutex
	of       map[Operation]*pending
}

type pending struct {
	Trouble
	reported time.Time
}

func newTroubles(o Observer) *troubles {
	return &troubles{observer: o, of: make(map[Operation]*pending)}
}

// failed counts a failure and the records lost by it.
func (t *troubles) failed(operation Operation, err error, reason Reason, lost int) {
	t.observer.Failed(operation)
	if lost > 0 {
		t.observer.Dropped(reason, lost)
	}
	t.mu.Lock()
	p := t.of[operation]
	if p == nil {
		p = &pending{Trouble: Trouble{Operation: operation}}
		t.of[operation] = p
	}
	p.Err = err
	p.Times++
	p.Lost += lost
	t.mu.Unlock()
	t.report(false)
}

// report sends the reports that are due, or all that are not sent.
func (t *troubles) report(all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for _, p := range t.of {
		if p.Times > 0 && (all || now.Sub(p.reported) >= reportEvery) {
			t.observer.Report(p.Trouble)
			p.Trouble = Trouble{Operation: p.Operation}
			p.reported = now
		}
	}
}
