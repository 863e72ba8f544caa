// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"container/list"
	"slices"
	"sync/atomic"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/edit"
)

// source is one value of one answer.
type source struct {
	step    *Step
	product int // of the step
	number  int // of the values at its place
}

// ended returns when the recorded answer was there, 0 if that is not known.
func (s source) ended() int64 { return s.step.ended }

// valued is a value at a producer's place.
type valued struct {
	slot  conversation.Slot
	value string
}

// session is what the recording has said of a session so far.
type session struct {
	known   map[valued][]source // the last two answers that had it
	order   []valued            // of known, the oldest first
	latest  map[conversation.Slot]source
	secrets []secret
	cookies map[string]recordedCookie
	jars    []*jar // what each target has handed out
}

// secret is a long value that may stand anywhere.
type secret struct {
	*edit.Secret
	source
	link int
}

// recordedCookie is what a recorded answer has handed out last.
type recordedCookie struct {
	value string
	step  *Step
}

func newSession(targets int) *session {
	s := &session{known: make(map[valued][]source), latest: make(map[conversation.Slot]source), cookies: make(map[string]recordedCookie)}
	for range targets {
		s.jars = append(s.jars, newJar())
	}
	return s
}

// add remembers that an answer has a value.
func (s *session) add(link int, v valued, from source) {
	all, old := s.known[v]
	if !old {
		if len(s.order) == maxKnown {
			delete(s.known, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, v)
	}
	if len(all) == 2 {
		all = all[1:]
	}
	s.known[v] = append(all, from)
	if len(v.value) < edit.MinSecret {
		return
	}
	for i := range s.secrets {
		if s.secrets[i].Value == v.value {
			s.secrets[i].source = from
			return
		}
	}
	if len(s.secrets) == maxSecrets {
		s.secrets = s.secrets[1:]
	}
	s.secrets = append(s.secrets, secret{edit.NewSecret(v.value), from, link})
}

// find returns the latest answer that had a value when a request began that was
// recorded at a time.
func (s *session) find(v valued, began int64) (source, bool) {
	for i, from := range slices.Backward(s.known[v]) {
		if i == 0 || from.ended() <= began {
			return from, true
		}
	}
	return source{}, false
}

// table has the sessions that go on.
type table struct {
	most      int
	byKey     map[string]*list.Element
	recent    list.List // of *entry, the one used last in front
	forgotten atomic.Int64
}

type entry struct {
	key     string
	session *session
}

// get returns the session of a key, a new one if there is none.
func (t *table) get(key string, targets int) *session {
	if e := t.byKey[key]; e != nil {
		t.recent.MoveToFront(e)
		return e.Value.(*entry).session
	}
	if t.byKey == nil {
		t.byKey = make(map[string]*list.Element)
	}
	if len(t.byKey) == t.most {
		last := t.recent.Back()
		delete(t.byKey, last.Value.(*entry).key)
		t.recent.Remove(last)
		t.forgotten.Add(1)
	}
	s := newSession(targets)
	t.byKey[key] = t.recent.PushFront(&entry{key, s})
	return s
}

func (t *table) clear() {
	t.byKey = nil
	t.recent.Init()
}
