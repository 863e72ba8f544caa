// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// SessionID is a session, 0 is none. As text it has 16 hexadecimal digits.
type SessionID uint64

// String returns the text.
func (id SessionID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// Bounds of what is remembered. The oldest go.
const (
	maxAliases = 1 << 15 // keys beside those that name a session by themselves
	maxOffered = 1 << 17 // tokens that responses have, before a request has them
)

// sessionOf returns the session that text names, which may have been edited.
func sessionOf(text string) SessionID {
	if id, err := strconv.ParseUint(text, 16, 64); err == nil && len(text) == 16 && id != 0 {
		return SessionID(id)
	}
	return SessionID(max(xxhash.Sum64String(text), 1))
}

// Sessions assigns records to sessions, in the order of their times. A key names
// its session by itself; what is remembered are the keys that responses hand out
// to a session which has another one.
type Sessions struct {
	keys    []SessionKey
	known   map[string]string // by record, from a file
	reader  Reader
	aliases recent[SessionID] // of a key, to the session
	offered recent[SessionID] // of a token in a response, to the session, if it is one session's
	records uint64            // that got a session of their own

	ofRequest, ofResponse []item
}

// NewSessions returns what assigns records by these keys, the most telling
// first. Records in known have the session that it says.
func NewSessions(keys []SessionKey, known map[string]string) *Sessions {
	s := &Sessions{keys: keys, known: known}
	s.aliases.most, s.offered.most = maxAliases, maxOffered
	return s
}

// Of returns the session of the next record, by its request, or by what its
// response hands out if the request has no key. The second result is false if it
// has none.
func (s *Sessions) Of(q *recording.Request) (session string, ok bool) {
	s.ofRequest = s.reader.requestItems(s.ofRequest[:0], q)
	s.ofResponse = s.reader.responseItems(s.ofResponse[:0], q.Response)
	var said SessionID
	if session, ok := s.known[string(q.ID)]; ok {
		said = sessionOf(session)
	}
	id, _ := s.assign(q, said, s.ofRequest, s.ofResponse)
	return id.String(), id != 0
}

// naming is what of a record names its session.
type naming byte

const (
	byRequest naming = iota // alone
	byAnswers               // its own, or one before
	byItself                // nothing yet: its response has tokens, one of which may be a key later
)

// assign returns the session of a record of which the values are known, and what
// names it. It is the one that is said, unless that is 0.
func (s *Sessions) assign(q *recording.Request, said SessionID, ofRequest, ofResponse []item) (id SessionID, by naming) {
	id = said
	var own SessionID // what the first key names
	for _, key := range s.keys {
		named := key.ofRequest(q, ofRequest)
		if named == 0 {
			continue
		}
		if own == 0 {
			own = named
		}
		is, known := s.aliases.get(named)
		if !known && key.kind == bearerKey {
			if is, known = s.offered.get(named); known && is == 0 {
				known = false // several sessions have it
			}
		}
		switch {
		case id == 0 && known:
			id = is
		case id == 0:
			id = named
		}
		if named != id && (!known || is != id && said != 0) {
			s.aliases.put(named, id)
		}
	}
	for _, key := range s.keys {
		for _, handed := range ofResponse {
			if !key.isHandedOut(handed.place) {
				continue
			}
			named := key.name64(handed.hash)
			is, known := s.aliases.get(named)
			switch {
			case id == 0 && known:
				id = is
			case id == 0:
				id = named
			case named != id && !known:
				s.aliases.put(named, id)
			}
		}
	}
	switch {
	case s.offer(&id, ofRequest, ofResponse):
		return id, byItself
	case id == own:
		return id, byRequest
	}
	return id, byAnswers
}

// offer remembers which session got the tokens of a response, in case that one
// is later its bearer. Where the record has no session yet it gets a new one,
// which is reported.
func (s *Sessions) offer(id *SessionID, ofRequest, ofResponse []item) (isNew bool) {
	bearer := SessionKey{kind: bearerKey}
	if !slices.Contains(s.keys, bearer) {
		return false
	}
	for _, offered := range ofResponse {
		if !offered.strong || offered.place.Kind != JSON && offered.place.Kind != Header {
			continue
		}
		if slices.ContainsFunc(ofRequest, func(asked item) bool { return asked.hash == offered.hash }) {
			continue // an echo
		}
		if *id == 0 {
			s.records++
			*id, isNew = SessionID(xxhash.Sum64String(fmt.Sprint("record ", s.records))), true
		}
		named := bearer.name64(offered.hash)
		if is, known := s.offered.get(named); known && is != *id {
			s.offered.put(named, 0)
		} else if !known {
			s.offered.put(named, *id)
		}
	}
	return isNew
}

// ofRequest returns the session that a request's key names, 0 if it has none.
func (k SessionKey) ofRequest(q *recording.Request, items []item) SessionID {
	want := Place{Kind: Header, Name: k.name}
	switch k.kind {
	case clientIP:
		if addr, err := netip.ParseAddrPort(string(q.Remote)); err == nil {
			return k.name64(xxhash.Sum64String(addr.Addr().String()))
		}
		if len(q.Remote) > 0 {
			return k.name64(xxhash.Sum64(q.Remote))
		}
		return 0
	case bearerKey:
		want = Place{Kind: Bearer}
	case cookieKey:
		want.Kind = Cookie
	case headerKey, noKey:
	}
	for _, item := range items {
		if item.place == want {
			return k.name64(item.hash)
		}
	}
	return 0
}

// isHandedOut reports whether a response has the key itself at a place.
func (k SessionKey) isHandedOut(at Place) bool {
	switch k.kind {
	case cookieKey:
		return at == Place{Kind: Cookie, Name: k.name}
	case headerKey:
		return at == Place{Kind: Header, Name: k.name}
	case clientIP, bearerKey, noKey:
	}
	return false
}

// name64 returns the session that a value of the key names.
func (k SessionKey) name64(value uint64) SessionID {
	text := k.String()
	hash := xxhash.Sum64String(text) ^ value*0x9E3779B97F4A7C15
	return SessionID(max(hash^hash>>29, 1))
}

// recent remembers what was put or asked for lately: at least half as much as it
// may at most.
type recent[V any] struct {
	most       int
	young, old map[SessionID]V
}

func (r *recent[V]) get(key SessionID) (V, bool) {
	if is, ok := r.young[key]; ok {
		return is, true
	}
	is, ok := r.old[key]
	if ok {
		r.put(key, is)
	}
	return is, ok
}

func (r *recent[V]) put(key SessionID, is V) {
	if r.young == nil || len(r.young) >= r.most/2 {
		r.old, r.young = r.young, make(map[SessionID]V)
	}
	r.young[key] = is
}

// Bounds of what is kept to know where sessions end.
const (
	maxOpen   = 1 << 15 // sessions that no other as many came after; those beyond have ended, unless they come back
	maxMarked = 1 << 27 // records of which it is known; 16 MiB
)

// Ends are the records that are the last ones of their sessions: one bit for each
// record.
type Ends struct {
	young, old map[SessionID]int64 // the last record so far, of those that came lately and of those before
	bits       []uint64
}

func newEnds() *Ends { return &Ends{young: make(map[SessionID]int64)} }

// Last reports whether a record is the last one of its session, by its number
// among those that were added, from 1. It is false where that is not known, and
// of nil.
func (e *Ends) Last(record int64) bool {
	return e != nil && record >= 0 && record/64 < int64(len(e.bits)) && e.bits[record/64]>>(record%64)&1 == 1
}

// meet takes the session of a record.
func (e *Ends) meet(id SessionID, record int64) {
	delete(e.old, id)
	e.young[id] = record
	if len(e.young) == maxOpen {
		e.end(e.old)
		e.young, e.old = make(map[SessionID]int64), e.young
	}
}

// finish ends all sessions that have not ended.
func (e *Ends) finish() {
	e.end(e.old)
	e.end(e.young)
	e.young, e.old = nil, nil
}

func (e *Ends) end(sessions map[SessionID]int64) {
	for _, record := range sessions {
		if record >= maxMarked {
			continue
		}
		for int64(len(e.bits)) <= record/64 {
			e.bits = append(e.bits, 0)
		}
		e.bits[record/64] |= 1 << (record % 64)
	}
}
