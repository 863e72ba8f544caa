// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// intake receives the requests of one address, has a service decide on each, and
// settles it when its answer is confirmed. Between these a request is a timer.
//
// It has a connection of its own: an address that the broker will not have costs no
// other its requests.
type intake struct {
	address  string
	broker   string
	protocol broker.Protocol
	players  []*player
	office   *office
	release  func() // of the office
	credit   int
	grace    time.Duration
	logger   atomic.Pointer[zap.Logger]
	thinned  *metrics.Throttle
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	up       atomic.Bool

	mu       sync.Mutex // guards what follows
	link     *link      // nil: there is none
	stopping bool
	pending  int           // requests that are neither settled nor lost, and late answers
	idle     chan struct{} // closed when stopping and nothing is pending
}

// link is what requests have come over.
type link struct {
	sub  broker.Subscription
	dead atomic.Bool

	mu     sync.Mutex // guards what follows
	asleep map[*request]*time.Timer
}

// sleep has a request wake after a while, unless the link dies before.
func (l *link) sleep(r *request, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asleep == nil {
		r.guarded(func() { r.finish(returned) })
		return
	}
	r.p.asleep.Inc()
	l.asleep[r] = time.AfterFunc(d, func() {
		l.mu.Lock()
		delete(l.asleep, r)
		l.mu.Unlock()
		r.p.asleep.Dec()
		r.guarded(r.wake)
	})
}

// die has nothing come over the link any more: what sleeps goes back to the broker.
func (l *link) die() {
	l.dead.Store(true)
	l.mu.Lock()
	left := l.asleep
	l.asleep = nil
	l.mu.Unlock()
	for r, timer := range left {
		if timer.Stop() {
			r.p.asleep.Dec()
			r.finish(returned)
		}
	}
}

// request is one that is in hand.
type request struct {
	in   *intake
	link *link
	d    *broker.Delivery
	p    *player
	said decision
}

// ending are the intakes that have been replaced or stopped, while their requests
// sleep.
var ending sync.WaitGroup

func (in *intake) log() *zap.Logger { return in.logger.Load() }

// begin connects, and goes on until Destruct.
func (in *intake) begin() {
	in.ctx, in.cancel = context.WithCancel(context.Background())
	in.idle = make(chan struct{})
	in.thinned = metrics.NewThrottle(time.Second)
	in.running.Go(func() {
		keepConnected(in.ctx, in.protocol, in.log, connection{in.broker, "requests " + in.address}, in.use)
	})
}

// Destruct lets no more requests come, and in the background lets those that sleep
// be answered for a while.
func (in *intake) Destruct() error {
	in.mu.Lock()
	in.stopping = true
	link, pending := in.link, in.pending
	if pending == 0 {
		close(in.idle)
	}
	in.mu.Unlock()
	if link != nil {
		link.sub.Pause()
	}
	if pending > 0 {
		in.log().Info("requests that sleep are still answered", zap.String("broker", in.broker), zap.String("address", in.address),
			zap.Int("requests", pending), zap.Duration("grace_period", in.grace))
	}
	ending.Go(func() {
		timer := time.NewTimer(in.grace)
		defer timer.Stop()
		select {
		case <-in.idle:
		case <-timer.C:
			in.mu.Lock()
			left := in.pending
			in.mu.Unlock()
			in.log().Warn("requests go back to the broker: the grace period is over", zap.String("broker", in.broker),
				zap.String("address", in.address), zap.Int("requests", left))
		}
		in.cancel()
		in.running.Wait()
		for _, p := range in.players {
			p.end()
		}
		in.release()
	})
	return nil
}

// use receives over a connection until it is lost.
func (in *intake) use(conn broker.Conn) error {
	defer conn.Close()
	l := &link{asleep: make(map[*request]*time.Timer)}
	ready := make(chan struct{})
	ctx, cancel := context.WithTimeout(in.ctx, connecting)
	defer cancel()
	sub, err := conn.Receive(ctx, broker.Source{Address: in.address, Credit: in.credit, Deliver: func(d *broker.Delivery) {
		<-ready // which is soon
		if err := broker.Guarded(func() { in.deliver(l, d) }); err != nil {
			in.log().Error("deciding on a request", zap.Error(err))
		}
	}})
	if err != nil {
		close(ready)
		l.die()
		return err
	}
	l.sub = sub
	in.mu.Lock()
	in.link = l
	stopping := in.stopping
	in.mu.Unlock()
	close(ready)
	if stopping {
		sub.Pause()
	}
	in.up.Store(true)
	defer in.up.Store(false)
	in.log().Info("receiving", zap.String("broker", in.broker), zap.String("address", in.address), zap.Int("credit", in.credit))
	select {
	case <-sub.Done():
		err = sub.Err()
	case <-conn.Done():
		err = conn.Err()
	case <-in.ctx.Done():
	}
	l.die()
	in.mu.Lock()
	in.link = nil
	in.mu.Unlock()
	return err
}

// deliver takes a request: it is matched now, and answered when its time has come.
func (in *intake) deliver(l *link, d *broker.Delivery) {
	in.mu.Lock()
	if in.stopping || l.dead.Load() {
		in.mu.Unlock()
		in.players[0].count(returned)
		return // it goes back when the connection is closed
	}
	in.pending++
	in.mu.Unlock()
	arrived := time.Now()
	r := &request{in: in, link: l, d: d, p: in.players[0]}
	err := r.choose()
	if d.Redelivered {
		r.p.again.Inc()
	}
	if err != nil {
		result := unmatched
		if !errors.Is(err, errUnmatched) {
			result = failed
			r.warn("cannot decide on a request", err)
		}
		r.dispose(r.p.Unmatched, result)
		return
	}
	r.p.latency.Observe(r.said.wait.Seconds())
	wait := r.said.wait - time.Since(arrived)
	if wait <= 0 {
		r.wake()
		return
	}
	l.sleep(r, wait)
}

// choose finds the service for the request, and has it decide.
func (r *request) choose() error {
	asked := asked(r.d, nil)
	for _, p := range r.in.players {
		holds, err := p.conditions.hold(asked)
		if err != nil {
			return err
		}
		if !holds {
			continue
		}
		said, err := p.decide(r.d, asked)
		if errors.Is(err, errUnmatched) {
			continue
		}
		r.p, r.said = p, said
		return err
	}
	return errUnmatched
}

// wake does what there is to do when the latency is over.
func (r *request) wake() {
	switch {
	case r.link.dead.Load():
		r.finish(returned)
		return
	case r.said.fault == response.Drop:
		r.settle(broker.Accept, func() { r.finish(dropped) })
		return
	case r.p.replyTo(r.d) == "":
		r.unanswerable(errors.New("it does not say where to reply to"))
		return
	case r.said.fault == response.Late:
		r.settle(broker.Accept, func() {
			time.AfterFunc(r.said.late, func() {
				r.guarded(func() { r.send(r.p.answer(r.d, &r.said), never, r.lateSent) })
			})
		})
		return
	}
	m := r.p.answer(r.d, &r.said)
	r.send(m, r.link.dead.Load, func(err error) {
		if err == nil && r.said.fault == response.Duplicate {
			r.send(m, r.link.dead.Load, r.sent)
			return
		}
		r.sent(err)
	})
}

func never() bool { return false }

func (r *request) send(m *broker.Message, stale func() bool, done func(error)) {
	r.in.office.send(&answer{message: m, stale: stale, done: func(err error) { r.guarded(func() { done(err) }) }})
}

// sent is told what became of the answer.
func (r *request) sent(err error) {
	refused, ok := errors.AsType[*broker.RefusedError](err)
	switch {
	case err == nil:
		r.settle(broker.Accept, func() { r.finish(answered) })
	case ok:
		r.unanswerable(refused)
	default:
		r.finish(returned)
	}
}

// lateSent is told what became of an answer whose request was accepted before.
func (r *request) lateSent(err error) {
	if err != nil {
		r.warn("a late answer could not be sent", err)
		r.finish(failed)
		return
	}
	r.finish(answered)
}

// unanswerable disposes of a request whose answer the broker will not have.
func (r *request) unanswerable(reason error) {
	r.warn("a request cannot be answered", reason)
	r.dispose(r.p.Unanswerable, unanswerable)
}

// deadLetterPause is how long a dead letter that the broker will not have waits
// until it is tried again. Its request is kept.
const deadLetterPause = 5 * time.Second

// dispose ends a request without an answer.
func (r *request) dispose(how *Disposal, result string) {
	switch how.How {
	case deadLetter:
		copied := r.d.Message
		copied.Address, copied.Copied = how.Address, r.d
		r.send(&copied, r.link.dead.Load, func(err error) {
			refused, ok := errors.AsType[*broker.RefusedError](err)
			switch {
			case err == nil:
				r.settle(broker.Accept, func() { r.finish(deadLettered) })
			case ok:
				r.warn("the broker takes no dead letters; trying again", refused)
				time.AfterFunc(deadLetterPause, func() { r.guarded(func() { r.dispose(how, result) }) })
			default:
				r.finish(returned)
			}
		})
	case reject:
		r.settle(broker.Reject, func() { r.finish(result) })
	default:
		r.settle(broker.Accept, func() { r.finish(result) })
	}
}

// settle reports to the broker what became of the request, and what then follows.
func (r *request) settle(how broker.Settlement, then func()) {
	if r.link.dead.Load() {
		if r.said.fault == response.Late && how == broker.Accept {
			r.finish(returned)
			return
		}
		then()
		return
	}
	r.link.sub.Settle(r.d, how, func(error) { r.guarded(then) }) // an error is a connection that is lost: the request comes again
}

// finish counts what became of the request.
func (r *request) finish(result string) {
	r.p.count(result)
	in := r.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pending--; in.pending == 0 && in.stopping {
		close(in.idle)
	}
}

// guarded keeps what is wrong with one request from ending the process. The request
// goes back when its connection is closed.
func (r *request) guarded(do func()) {
	if err := broker.Guarded(do); err != nil {
		r.in.log().Error("answering a request", zap.Error(err))
	}
}

// warn logs what is wrong with a request, once a second at most.
func (r *request) warn(what string, err error) {
	held, ok := r.in.thinned.Allow()
	if !ok {
		return
	}
	r.in.log().Warn(what, zap.String("broker", r.in.broker), zap.String("service", r.p.Name),
		zap.String("reply_to", r.d.ReplyTo), zap.Any("message_id", r.d.ID), zap.Error(err), zap.Int64("more", held))
}
