// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"context"
	"errors"
	"fmt"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// mostUnconfirmed is how many messages of a link wait for their confirmation.
const mostUnconfirmed = 1024

// unconfirmed is a message that was sent.
type unconfirmed struct {
	sending
	receipt amqp.SendReceipt
}

// ended reports whether an error of sending is that of the link or of what is below
// it.
func (l *senderLink) ended(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	_, link := errors.AsType[*amqp.LinkError](err)
	_, session := errors.AsType[*amqp.SessionError](err)
	_, conn := errors.AsType[*amqp.ConnError](err)
	return link || session || conn || l.conn.lost()
}

// confirm waits for the broker to say what became of each message.
func (l *senderLink) confirm(ctx context.Context, sent <-chan unconfirmed) {
	for u := range sent {
		state, err := u.receipt.Wait(ctx)
		l.settled(u.sending, l.outcome(state, err))
	}
}

// outcome returns what became of a message. A link that the broker detaches is about
// the message only if that was alone on it and the link is for its address.
func (l *senderLink) outcome(state amqp.DeliveryState, err error) error {
	if err != nil {
		l.cancel() // or the sending half would wait for more
		link, ok := errors.AsType[*amqp.LinkError](err)
		l.mu.Lock()
		alone := l.underway == 1
		l.mu.Unlock()
		if ok && link.RemoteErr != nil && alone && l.address != "" && !l.conn.lost() {
			return &broker.RefusedError{Reason: err}
		}
		return fmt.Errorf("%w: %w", broker.ErrLost, err)
	}
	switch state := state.(type) {
	case *amqp.StateAccepted:
		return nil
	case *amqp.StateRejected:
		if state.Error != nil {
			return &broker.RefusedError{Reason: state.Error}
		}
		return &broker.RefusedError{Reason: errors.New("the broker rejected it")}
	}
	return &broker.RefusedError{Reason: fmt.Errorf("the broker did not accept it: %T", state)}
}
