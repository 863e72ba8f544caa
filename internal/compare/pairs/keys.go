// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

// keys finds exchanges whose sides know nothing of one another. It also knows
// which exchanges are gone that some sides have yet to ask for: they would wait
// in vain for those that have been there.
type keys struct {
	known map[uint64]entry
	order []uint64 // a ring of keys, in the order in which they came
	next  int
}

type entry struct {
	exchange *Exchange // nil if it was shed
	asked    int       // sides
}

// maxKeys is how many keys are known at least as long as not all have asked.
const maxKeys = 1 << 16

// Join is Begin for sides that know nothing of one another, like targets that
// each read the recording for themselves: the first begins the exchange, and the
// others get the same one. Each side asks once for each key. A request that was
// shed for one is nil for all.
func (p *Pool) Join(key uint64, r *Request) *Exchange {
	p.mu.Lock()
	if x, ok := p.keys.find(key, p.options.asking()); ok {
		p.mu.Unlock()
		return x
	}
	p.mu.Unlock()

	x := p.reserve(r)
	if x != nil {
		x.request.copy(r)
	}
	p.mu.Lock()
	if first, ok := p.keys.find(key, p.options.asking()); ok { // meanwhile
		if x != nil {
			p.forget(x)
		}
		p.mu.Unlock()
		return first
	}
	p.keys.add(key, x)
	if x != nil {
		p.begin(x)
	}
	p.mu.Unlock()
	if x == nil {
		p.skipAll(Shed)
	}
	return x
}

// asking returns how many sides ask for each key.
func (o *Options) asking() int {
	n := 1 + len(o.Tallies)
	if o.Noise {
		n++
	}
	return n
}

func (k *keys) find(key uint64, sides int) (*Exchange, bool) {
	e, ok := k.known[key]
	if !ok {
		return nil, false
	}
	if e.asked++; e.asked == sides {
		delete(k.known, key)
	} else {
		k.known[key] = e
	}
	return e.exchange, true
}

func (k *keys) add(key uint64, x *Exchange) {
	if k.known == nil {
		k.known = make(map[uint64]entry)
	}
	if len(k.order) < maxKeys {
		k.order = append(k.order, key)
	} else {
		delete(k.known, k.order[k.next])
		k.order[k.next] = key
		k.next = (k.next + 1) % maxKeys
	}
	k.known[key] = entry{exchange: x, asked: 1}
}
