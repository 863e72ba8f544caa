// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// request is one that is in hand.
type request struct {
	receiver *receiver
	link     *link
	sub      broker.Subscription
	d        *broker.Delivery
	service  *service // that answers it; the first one of its address until that is known
	decision decision
	finished bool // guarded by the receiver
}

// begin decides on the request, which then sleeps until its latency is over.
func (r *request) begin() {
	arrived := time.Now()
	var err error
	if panicked := broker.Guarded(func() { err = r.choose() }); panicked != nil {
		err = panicked
	}
	if r.d.Redelivered {
		r.service.redelivered.Inc()
	}
	if err != nil {
		result := unmatched
		if !errors.Is(err, errUnmatched) {
			result = failed
			r.warn("cannot decide on a request", err)
		}
		r.dispose(r.service.Unmatched, result, err)
		return
	}
	r.service.latency.Observe(r.decision.wait.Seconds())
	wait := r.decision.wait - time.Since(arrived)
	if wait <= 0 {
		r.wake()
		return
	}
	r.link.sleep(r, wait)
}

// choose finds the service for the request, and has it decide.
func (r *request) choose() error {
	asked := requestOf(r.d)
	for _, svc := range r.receiver.services {
		holds, err := svc.conditions.hold(asked)
		if err != nil {
			r.service = svc
			return err
		}
		if !holds {
			continue
		}
		decided, err := svc.decide(r.d, asked)
		if errors.Is(err, errUnmatched) {
			continue
		}
		r.service, r.decision = svc, decided
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
	case r.decision.fault == response.Drop:
		r.settle(broker.Accept, dropped, returned)
		return
	case r.service.replyTo(r.d) == "":
		r.unanswerable(errors.New("it does not say where to reply to"))
		return
	case r.decision.fault == response.Late:
		r.settleThen(broker.Accept, func(err error) {
			if err != nil {
				r.finish(returned)
				return
			}
			time.AfterFunc(r.decision.late, func() {
				r.guarded(func() { r.send(r.service.answer(r.d, &r.decision), never, r.lateSent) })
			})
		})
		return
	}
	m := r.service.answer(r.d, &r.decision)
	r.send(m, r.link.dead.Load, func(err error) {
		if err == nil && r.decision.fault == response.Duplicate {
			r.send(m, r.link.dead.Load, r.sent)
			return
		}
		r.sent(err)
	})
}

func never() bool { return false }

func (r *request) send(m *broker.Message, stale func() bool, done func(error)) {
	r.receiver.conns.answers.send(&answer{message: m, stale: stale, done: func(err error) { r.guarded(func() { done(err) }) }})
}

// sent is called with what became of the answer.
func (r *request) sent(err error) {
	refused, ok := errors.AsType[*broker.RefusedError](err)
	switch {
	case err == nil:
		r.settle(broker.Accept, answered, answered)
	case ok:
		r.unanswerable(refused)
	default:
		r.finish(returned)
	}
}

// lateSent is called with what became of an answer whose request was accepted before.
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
	r.dispose(r.service.Unanswerable, unanswerable, reason)
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
				r.settle(broker.Accept, deadLettered, deadLettered)
			case ok:
				r.warn("the broker takes no dead letters; trying again", refused)
				time.AfterFunc(deadLetterPause, func() { r.guarded(func() { r.dispose(how, result, why) }) })
			default:
				r.finish(returned)
			}
		})
	case reject:
		r.settle(broker.Reject, result, returned)
	default:
		r.settle(broker.Accept, result, returned)
	}
}

// settle reports to the broker what became of the request, which is finished then. The
// result is another one if that cannot be reported, and the request comes again.
func (r *request) settle(how broker.Settlement, result, ifLost string) {
	r.settleThen(how, func(err error) {
		if err != nil {
			result = ifLost
		}
		r.finish(result)
	})
}

// settleThen reports to the broker what became of the request, and calls then with nil
// or with why it cannot be reported.
func (r *request) settleThen(how broker.Settlement, then func(error)) {
	if r.link.dead.Load() {
		then(broker.ErrLost)
		return
	}
	r.sub.Settle(r.d, how, func(err error) { r.guarded(func() { then(err) }) })
}

// finish counts what became of the request, once.
func (r *request) finish(result string) {
	rc := r.receiver
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if r.finished {
		return
	}
	r.finished = true
	r.service.count(result)
	if rc.pending--; rc.pending == 0 && rc.stopping {
		close(rc.idle)
	}
}

// guarded keeps what is wrong with one request from ending the process. The request
// goes back when its subscription is closed.
func (r *request) guarded(do func()) {
	if err := broker.Guarded(do); err != nil {
		r.receiver.log().Error("answering a request", zap.Error(err))
		r.finish(failed)
	}
}

// warn logs what is wrong with a request, once a second at most.
func (r *request) warn(what string, err error) {
	held, ok := r.receiver.throttle.Allow()
	if !ok {
		return
	}
	r.receiver.log().Warn(what, zap.String("broker", r.receiver.broker), zap.String("service", r.service.Name),
		zap.String("reply_to", r.d.ReplyTo), zap.Any("message_id", r.d.ID), zap.Error(err), zap.Int64("more", held))
}

// Properties of dead letters, named as Azure Service Bus names them. They are
// identifiers, as JMS wants the names of properties to be.
const (
	deadReason = "DeadLetterReason"           // one of the results
	deadDetail = "DeadLetterErrorDescription" // in words
	deadSource = "DeadLetterSource"           // the address that the request came to
)

// longestDetail is how long a description may be, in bytes. What a broker says can
// have any length.
const longestDetail = 300

// deadLetterOf returns a copy of a request for another address, which says why it is
// there and where it was before. What an earlier one said of that is replaced.
func deadLetterOf(d *broker.Delivery, address, reason string, why error) *broker.Message {
	copied := d.Message
	copied.Address, copied.Copied = address, d
	copied.Properties = slices.DeleteFunc(slices.Clone(d.Properties), func(p broker.Property) bool {
		return p.Name == deadReason || p.Name == deadDetail || p.Name == deadSource
	})
	detail := why.Error()
	detail = strings.ToValidUTF8(detail[:min(len(detail), longestDetail)], "")
	copied.Properties = append(copied.Properties,
		broker.Property{Name: deadReason, Value: reason},
		broker.Property{Name: deadDetail, Value: detail},
		broker.Property{Name: deadSource, Value: d.Address})
	return &copied
}
