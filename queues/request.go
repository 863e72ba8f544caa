// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// request is one that is in hand.
type request struct {
	in   *intake
	link *link
	sub  broker.Subscription
	d    *broker.Delivery
	p    *player
	said decision
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
	r.in.station.office.send(&answer{message: m, stale: stale, done: func(err error) { r.guarded(func() { done(err) }) }})
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
	r.dispose(r.p.Unanswerable, unanswerable, reason)
}

// deadLetterPause is how long a dead letter that the broker will not have waits
// until it is tried again. Its request is kept.
const deadLetterPause = 5 * time.Second

// dispose ends a request without an answer.
func (r *request) dispose(how *Disposal, result string, why error) {
	switch how.How {
	case deadLetter:
		r.send(deadLetterOf(r.d, how.Address, result, why), r.link.dead.Load, func(err error) {
			refused, ok := errors.AsType[*broker.RefusedError](err)
			switch {
			case err == nil:
				r.settle(broker.Accept, func() { r.finish(deadLettered) })
			case ok:
				r.warn("the broker takes no dead letters; trying again", refused)
				time.AfterFunc(deadLetterPause, func() { r.guarded(func() { r.dispose(how, result, why) }) })
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
	r.sub.Settle(r.d, how, func(error) { r.guarded(then) }) // an error is a connection that is lost: the request comes again
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
// goes back when its subscription is closed.
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
