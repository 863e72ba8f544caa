// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import "time"

// mostPassed is how many addresses of a connection are remembered to have passed.
const mostPassed = 10_000

// longestTrial is how long an address may keep others from their trial. A broker
// that holds back one queue does not refuse it.
const longestTrial = 10 * time.Second

// takeWaiting returns all that waits for a trial, which then no longer waits. The
// lock is held.
func (o *office) takeWaiting() (all []*answer) {
	for _, address := range o.order {
		all = append(all, o.waiting[address]...)
	}
	clear(o.waiting)
	o.order = nil
	return all
}

// wait has an answer wait for the trial of its address. The lock is held.
func (o *office) wait(a *answer) {
	address := a.message.Address
	if o.waiting[address] == nil {
		o.order = append(o.order, address)
	}
	o.waiting[address] = append(o.waiting[address], a)
}

// next returns the answer that is to be on trial next; nil if none waits. The lock
// is held.
func (o *office) next() *answer {
	for len(o.order) > 0 {
		address := o.order[0]
		o.order = o.order[1:]
		list := o.waiting[address]
		delete(o.waiting, address)
		if len(list) == 0 {
			continue
		}
		if len(list) > 1 {
			o.order = append(o.order, address)
			o.waiting[address] = list[1:]
		}
		return list[0]
	}
	return nil
}

// giveUpTrial goes on with the next address. The answer is still under way.
func (o *office) giveUpTrial(a *answer) {
	o.mu.Lock()
	var next *answer
	if o.trial == a {
		o.trial = nil
		next = o.next()
	}
	o.mu.Unlock()
	if next != nil {
		o.send(next)
	}
}
