// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import "time"

// mostAttached is how many addresses of a connection are remembered to be attached.
const mostAttached = 10_000

// longestAttach is how long an address may keep others from being attached. A broker
// that holds back one queue does not refuse it.
const longestAttach = 10 * time.Second

// takeWaiting returns all that waits to attach an address, which then no longer waits.
// The lock is held.
func (s *sender) takeWaiting() (all []*answer) {
	for _, address := range s.order { // may have one twice
		all = append(all, s.waiting[address]...)
		delete(s.waiting, address)
	}
	s.order = nil
	return all
}

// wait has an answer wait until its address can be attached. The lock is held.
func (s *sender) wait(a *answer) {
	address := a.message.Address
	if s.waiting[address] == nil {
		s.order = append(s.order, address)
	}
	s.waiting[address] = append(s.waiting[address], a)
}

// next returns the answer that is to attach its address next; nil if none waits. The
// lock is held.
func (s *sender) next() *answer {
	for len(s.order) > 0 {
		address := s.order[0]
		s.order = s.order[1:]
		list := s.waiting[address]
		delete(s.waiting, address)
		if len(list) == 0 {
			continue
		}
		if len(list) > 1 {
			s.order = append(s.order, address)
			s.waiting[address] = list[1:]
		}
		return list[0]
	}
	return nil
}

// giveUpAttaching goes on with the next address, if an answer still attaches its own.
// That one is still under way.
func (s *sender) giveUpAttaching(a *answer) {
	s.mu.Lock()
	var next *answer
	if s.attaching == a {
		s.attaching = nil
		next = s.next()
	}
	s.mu.Unlock()
	if next != nil {
		s.send(next)
	}
}
