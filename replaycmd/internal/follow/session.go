// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"container/list"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

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
	known    map[valued][]source // the last two answers that had it
	order    []valued            // of known, the oldest first
	latest   map[conversation.Slot]source
	users    map[*Step][]*Step // by a request, the last ones that have a value of its answer
	used     []*Step           // those in users, the one used last at the end
	secrets  []secret
	recorded *jar   // what the recorded answers have handed out
	jars     []*jar // what each target has handed out
	secure   bool   // cookies came that are not for plain HTTP
	bytes    int    // that it takes but for cookies, roughly, with what targets have answered
}

// Roughly what is kept beside the bytes of a value, with what targets have
// answered in its place.
const (
	valueBytes  = 512
	secretBytes = 1024
	formBytes   = 8 // times the bytes of a long value, in the forms in which it is looked for
)

// secret is a long value that may stand anywhere.
type secret struct {
	*edit.Secret
	source
	link int
}

func newSession(targets int) *session {
	s := &session{
		known: make(map[valued][]source), latest: make(map[conversation.Slot]source), users: make(map[*Step][]*Step),
		recorded: new(jar), bytes: secretBytes,
	}
	for range targets {
		s.jars = append(s.jars, new(jar))
	}
	return s
}

// size returns how many bytes the session takes, roughly. The cookies of an answer
// that comes later count with the next record.
func (s *session) size() int {
	n := s.recorded.bytes.Load()
	for _, j := range s.jars {
		n += j.bytes.Load()
	}
	return s.bytes + int(n)
}

// add remembers that an answer has a value.
func (s *session) add(link int, v valued, from source) {
	all, old := s.known[v]
	if !old {
		if len(s.order) == maxKnown {
			s.bytes -= valueBytes + 2*len(s.order[0].value)
			delete(s.known, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, v)
		s.bytes += valueBytes + 2*len(v.value)
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
		s.bytes -= secretBytes + formBytes*len(s.secrets[0].Value)
		s.secrets = slices.Delete(s.secrets, 0, 1)
	}
	s.secrets = append(s.secrets, secret{edit.NewSecret(v.value), from, link})
	s.bytes += secretBytes + formBytes*len(v.value)
}

// Bounds of what is known of who has the values of which answer.
const (
	maxUsed  = 256 // answers
	maxUsers = 8   // requests that have values of one: so many may one that follows wait for
)

// use remembers that a request has a value of an answer. It is not known to the
// request that was answered: that would keep all that come after it.
func (s *session) use(producer, user *Step) {
	users, known := s.users[producer]
	switch {
	case known:
		at := slices.Index(s.used, producer)
		s.used = slices.Delete(s.used, at, at+1)
	case len(s.used) == maxUsed:
		delete(s.users, s.used[0])
		s.used = slices.Delete(s.used, 0, 1)
	}
	s.used = append(s.used, producer)
	if len(users) == maxUsers {
		users = slices.Delete(users, 0, 1)
	}
	s.users[producer] = append(users, user)
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
	most, mostBytes int
	byKey           map[string]*list.Element
	recent          list.List           // of *entry, the one used last in front
	bytes           int                 // of all sessions
	young, old      map[uint64]struct{} // those that went, by the hash of their key: lately, and before
	returned        atomic.Int64        // of them
}

// maxGone is how many sessions that went are known, at least half of them.
const maxGone = 1 << 18

type entry struct {
	key     string
	session *session
	bytes   int // of it that are counted in the table
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
	hash := xxhash.Sum64String(key)
	_, young := t.young[hash]
	_, old := t.old[hash]
	if young || old {
		t.returned.Add(1)
		delete(t.young, hash)
		delete(t.old, hash)
	}
	s := newSession(targets)
	t.byKey[key] = t.recent.PushFront(&entry{key: key, session: s})
	return s
}

// settle counts what a session takes now, and forgets those that were idle for
// longest while all take too much. One that has ended goes at once; what its
// requests on the way need they have.
func (t *table) settle(key string, ended bool) {
	e := t.byKey[key]
	if ended {
		t.remove(e)
		return
	}
	is := e.Value.(*entry)
	t.bytes -= is.bytes
	is.bytes = is.session.size()
	t.bytes += is.bytes
	for len(t.byKey) > t.most || t.bytes > t.mostBytes && len(t.byKey) > 1 {
		t.remove(t.recent.Back())
	}
}

func (t *table) remove(e *list.Element) {
	is := t.recent.Remove(e).(*entry)
	delete(t.byKey, is.key)
	t.bytes -= is.bytes
	if t.young == nil || len(t.young) == maxGone/2 {
		t.young, t.old = make(map[uint64]struct{}), t.young
	}
	t.young[xxhash.Sum64String(is.key)] = struct{}{}
}

func (t *table) clear() {
	t.byKey, t.bytes, t.young, t.old = nil, 0, nil, nil
	t.recent.Init()
}
