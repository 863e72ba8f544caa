// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// Request is what a response is decided by.
type Request struct {
	Method string
	Path   string // decoded
	Target string // as it was sent
	// Fields are the header fields and the client; nil where neither is looked at.
	Fields Fields
}

// Fields are what recipes may ask of a request.
type Fields interface {
	// Get returns the first line of a header field, Host too, by its canonical
	// name.
	Get(name string) string
	// ClientIP returns the address of the client.
	ClientIP() string
}

// field returns the first line of a header field.
func (r *Request) field(name string) string {
	if r.Fields == nil {
		return ""
	}
	return r.Fields.Get(name)
}

// key returns what distinguishes the request from others; those that lack it are
// alike.
func (r *Request) key(by *recipe.Key) string {
	switch by.Kind {
	case recipe.ByURI:
		return r.Target
	case recipe.ByHeader:
		return r.field(by.Name)
	case recipe.ByCookie:
		cookies, _ := http.ParseCookie(r.field("Cookie"))
		for _, cookie := range cookies {
			if cookie.Name == by.Name {
				return cookie.Value
			}
		}
	case recipe.ByClientIP:
		if r.Fields != nil {
			return r.Fields.ClientIP()
		}
	}
	return ""
}

// counter takes the first requests, in all or of each key.
type counter struct {
	most  uint32
	taken atomic.Uint64 // in all

	by     *recipe.Key // nil: in all
	forgot func()      // is told of each key that is forgotten
	mu     sync.Mutex  // guards what follows
	seed   maphash.Seed
	counts map[uint64]uint32 // by the hash of the key
	order  []uint64          // in which the keys came; a ring once it is full
	oldest int
}

// mostKeys is how many keys are remembered; another one has the oldest forgotten.
var mostKeys = 100_000

func newCounter(first *recipe.First, forgot func()) *counter {
	c := &counter{most: first.N, by: first.By, forgot: forgot}
	if c.by != nil {
		c.seed = maphash.MakeSeed()
		c.counts = make(map[uint64]uint32)
	}
	return c
}

// takes reports whether a request is among the first ones.
func (c *counter) takes(req Request) bool {
	if c.by == nil {
		most := uint64(c.most)
		return c.taken.Load() < most && c.taken.Add(1) <= most
	}
	hash := maphash.String(c.seed, req.key(c.by))
	c.mu.Lock()
	defer c.mu.Unlock()
	n, known := c.counts[hash]
	if n >= c.most {
		return false
	}
	if !known {
		c.remember(hash)
	}
	c.counts[hash] = n + 1
	return true
}

// remember makes a place for a key.
func (c *counter) remember(hash uint64) {
	if len(c.order) < mostKeys {
		c.order = append(c.order, hash)
		return
	}
	delete(c.counts, c.order[c.oldest])
	c.order[c.oldest] = hash
	c.oldest = (c.oldest + 1) % mostKeys
	c.forgot()
}
