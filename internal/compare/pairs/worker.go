// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// worker compares the responses of one exchange after the other.
type worker struct {
	pool        *Pool
	diff, noise *compare.Comparer
	done        int  // pairs of the exchange that were compared or skipped
	large       bool // it compares large bodies, and no other worker does
}

// work runs as long as there is something to compare.
func (p *Pool) work() {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.hire()
	for p.ready.first != nil {
		x := p.ready.first
		p.ready.remove(x)
		w = p.compareWith(w, x)
	}
	p.dismiss(w)
	p.running--
	p.settled.Broadcast()
}

// compareHere compares an exchange in the goroutine that has completed it.
func (p *Pool) compareHere(x *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dismiss(p.compareWith(p.hire(), x))
}

// compareWith compares an exchange without the lock, which the caller holds
// before and after. It returns the worker, or a new one if that has panicked.
func (p *Pool) compareWith(w *worker, x *Exchange) *worker {
	p.mu.Unlock()
	if !w.contained(x) {
		w = newWorker(p)
	}
	p.mu.Lock()
	p.forget(x)
	return w
}

// maxIdle is how many workers keep their buffers for the next time.
const maxIdle = 16

// dismiss keeps a worker for later. It is called with the lock.
func (p *Pool) dismiss(w *worker) {
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, w)
	}
}

// hire returns a worker that does not run, with its buffers, or a new one.
func (p *Pool) hire() *worker {
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return w
	}
	return newWorker(p)
}

func newWorker(p *Pool) *worker {
	w := &worker{pool: p, diff: compare.NewComparer(p.options.Rules), noise: compare.NewComparer(p.options.Rules)}
	w.diff.Large, w.noise.Large = w.alone, w.alone
	return w
}

// contained keeps a panic from more than the pairs of one exchange. It reports
// whether there was none.
func (w *worker) contained(x *Exchange) (sane bool) {
	w.done = 0
	defer func() {
		for i := range x.sides {
			x.sides[i].release()
		}
		x.request = Request{}
		if w.large {
			w.diff.Shrink()
			w.noise.Shrink()
			w.share()
		}
		if recover() == nil {
			return
		}
		sane = false
		for i := w.done; i < len(w.pool.options.Tallies); i++ {
			w.pool.skip(i, Panicked)
		}
	}()
	w.compare(x)
	return true
}

// compare compares the old response with each new one, and the twin once with
// that of its system.
func (w *worker) compare(x *Exchange) {
	o := &w.pool.options
	old := &x.sides[Old]
	var noise *compare.Result
	for i := range o.Tallies {
		fresh := &x.sides[NewSystem(i)]
		switch reason := lacks(old, fresh); {
		case reason != "":
			w.pool.skip(i, reason)
		case o.Noise && lacks(&x.sides[Twin]) != "":
			w.pool.skip(i, tally.NoTwin)
		default:
			if o.Noise && noise == nil {
				first := old
				if o.TwinOfNew {
					first = fresh
				}
				noise = w.noise.Compare(&first.response, &x.sides[Twin].response)
				if w.large {
					w.letGo(noise)
				}
			}
			r := &x.request
			pair := tally.Pair{
				ID: r.ID, Method: r.Method, Target: r.Target, Header: r.Header, Body: r.Body,
				Old: &old.response, New: &fresh.response,
				Diff: w.diff.Compare(&old.response, &fresh.response), Noise: noise, NoiseOfNew: o.TwinOfNew,
			}
			o.Tallies[i].Add(&pair)
			if o.Compared != nil {
				o.Compared(i, &pair)
			}
		}
		w.done = i + 1
	}
}

// letGo keeps of noise what is counted: in which fields it is. The values may be
// the only use that there is of a large body.
func (w *worker) letGo(noise *compare.Result) {
	for i := range noise.Differences {
		noise.Differences[i].Old, noise.Differences[i].New = nil, nil
	}
	w.noise.Shrink()
}

// lacks returns why one of the sides has no response, "" if all have.
func lacks(sides ...*side) string {
	for _, s := range sides {
		switch {
		case !s.known:
			return TimedOut
		case s.reason != "":
			return s.reason
		}
	}
	return ""
}

// alone waits until no other worker compares large bodies, which take many times
// their size. It is called as often as a body of an exchange turns out to be one.
func (w *worker) alone() {
	if !w.large {
		large.Lock()
		w.large = true
	}
}

// share ends what alone has begun: another worker may compare large bodies.
func (w *worker) share() {
	if w.large {
		w.large = false
		large.Unlock()
	}
}

// large is held by the one worker of the process that compares large bodies.
var large sync.Mutex
