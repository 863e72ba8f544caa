// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// exchange is one request to one target and what became of it. A consumer may
// read it, and all that it refers to, until its method returns.
type exchange struct {
	target int   // where it went, by its place in delivery.targets
	number int64 // of the request, from 1; the same at all targets

	// record is what the request was made of. It has an identifier, unless all
	// records are one and the same; the recorded response only if that is asked
	// for.
	record *recording.Request

	status   int            // of the response; 0: none came
	response *http1.Capture // what came of the response, also if it broke off
	bodySize int64          // of the response, in bytes: it may be more than was captured
	err      error          // why there is no whole response

	started, ended time.Time
}

// consumer takes what becomes of requests.
type consumer interface {
	// consume takes what became of a request, with that of the same number to
	// other targets before or after it, or never. It is called by many senders
	// at the same time, which send nothing before it returns: it must not wait.
	consume(*exchange)
}

// capturing is what a delivery keeps for its consumers. The zero value, without
// any, keeps nothing.
type capturing struct {
	consumers []consumer
	maxBody   int  // bytes of the body of a response
	recorded  bool // the responses that records have are kept as well
	held      atomic.Int64
}

// maxCaptured is how many bytes the bodies of all responses may take that are
// being captured, beyond a little that each may.
const maxCaptured = 128 << 20

// hold reports whether the body of a response may have more memory.
func (c *capturing) hold(bytes int) bool {
	if c.held.Add(int64(bytes)) > maxCaptured {
		c.held.Add(-int64(bytes))
		return false
	}
	return true
}

// add adds a consumer that wants so much of each body, in bytes.
func (c *capturing) add(to consumer, maxBody int) {
	c.consumers = append(c.consumers, to)
	c.maxBody = max(c.maxBody, maxBody)
}

func (c *capturing) needed() bool { return len(c.consumers) > 0 }

// keep copies a record for the consumers of a message that was made of it, whose
// body is shared.
func (c *capturing) keep(m *message, r *recording.Request) {
	shared := *r
	if !c.recorded {
		shared.Response = nil
	}
	if m.bad == nil {
		shared.Body = nil
	}
	m.record.Take(&shared)
	if m.bad == nil {
		m.record.Body = m.Body
	}
}

// newExchange returns the place for what becomes of the requests of one sender,
// nil if nobody wants to know.
func (c *capturing) newExchange(target int) *exchange {
	if !c.needed() {
		return nil
	}
	return &exchange{target: target, response: &http1.Capture{MaxBody: c.maxBody, Hold: c.hold}}
}

// pass passes what became of a request to the consumers.
func (c *capturing) pass(x *exchange) {
	for _, to := range c.consumers {
		to.consume(x)
	}
	if held := x.response.Held(); held > 0 { // that isn't kept for another
		c.held.Add(-int64(held))
		x.response.Discard()
	}
}
