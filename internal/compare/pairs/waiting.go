// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import "time"

// list is a list of exchanges, the oldest first. An exchange is in one at a time.
type list struct{ first, last *Exchange }

func (l *list) add(x *Exchange) {
	if x.before = l.last; x.before == nil {
		l.first = x
	} else {
		x.before.after = x
	}
	l.last = x
}

func (l *list) remove(x *Exchange) {
	if x.before == nil {
		l.first = x.after
	} else {
		x.before.after = x.after
	}
	if x.after == nil {
		l.last = x.before
	} else {
		x.after.before = x.before
	}
	x.before, x.after = nil, nil
}

// waiting are the exchanges that lack a response, with one timer for all.
type waiting struct {
	list

	fire  func()
	timer *time.Timer
	set   bool
}

// arm sets the timer for the oldest, unless it is set: that is not done anew for
// each exchange, since most are gone before it fires.
func (w *waiting) arm() {
	if w.set || w.first == nil {
		return
	}
	w.set = true
	left := time.Until(w.first.deadline)
	if w.timer == nil {
		w.timer = time.AfterFunc(left, w.fire)
	} else {
		w.timer.Reset(left)
	}
}

// expired returns the oldest if its time is over. If not it sets the timer, which
// has fired.
func (w *waiting) expired(now time.Time) *Exchange {
	if w.first != nil && !w.first.deadline.After(now) {
		return w.first
	}
	w.set = false
	w.arm()
	return nil
}

func (w *waiting) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
