// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

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

// finish has all sessions end that have not.
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
