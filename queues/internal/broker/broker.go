// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package broker is what the queue simulator needs of a message broker, whatever
// protocol it speaks: connections that receive requests and send answers.
package broker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Namespace is where Caddy has the protocols, by the scheme of their URLs.
const Namespace = "queue_simulator.brokers"

// Protocol is a way to speak to one broker: a guest module of Namespace.
type Protocol interface {
	// Place returns scheme, host and path of the broker, without credentials.
	Place() string

	// Key returns all that changes how connections are made, to tell one broker from
	// another.
	Key() string

	// Shares reports whether one connection can have sources that do not feel one
	// another's end. If not, a connection has one source at most.
	Shares() bool

	// Connect makes a connection. It ends with the context.
	Connect(ctx context.Context) (Conn, error)
}

// Conn is a connection to a broker. Any number of goroutines may use it.
type Conn interface {
	// Receive begins to receive from an address. If the broker refuses that, the
	// connection may be lost soon.
	Receive(ctx context.Context, source Source) (Subscription, error)

	// Send sends a message to its address and returns at once. Done is called when
	// the broker has confirmed it, with a RefusedError if the broker will not have this
	// very message, or with ErrLost if nobody can tell.
	Send(m *Message, done func(error))

	// Done is closed when the connection is no more.
	Done() <-chan struct{}

	// Err returns why, once Done is closed.
	Err() error

	// Close ends the connection. What is not settled goes back to the broker.
	Close()
}

// Source is where to receive from.
type Source struct {
	Address string
	// Credit is how many requests may be unsettled at once.
	Credit int
	// Deliver is called for each request, one after the other. It must not block. The
	// first one may come before Receive returns.
	Deliver func(Subscription, *Delivery)
}

// Subscription is a source that is received from.
type Subscription interface {
	// Settle reports to the broker what became of a request and returns at once. Done is
	// called when that has been sent, or cannot be.
	Settle(d *Delivery, how Settlement, done func(error))

	// Pause lets no more requests come, where the protocol has a way to say so.
	Pause()

	// Close ends the subscription when what was settled before has been sent. What is not
	// settled goes back to the broker.
	Close()

	// Done is closed when the subscription is no more.
	Done() <-chan struct{}

	// Err returns why, once Done is closed.
	Err() error
}

// Settlement is what became of a request.
type Settlement int

// The settlements.
const (
	Accept Settlement = iota // it is done with
	Reject                   // it can not be served, and is not to come again
)

// ErrLost is the error of what was under way on a connection that is no more, or
// on a part of it.
var ErrLost = errors.New("the connection was lost before the broker confirmed it")

// RefusedError is the error of a message that the broker refused, and no other one.
type RefusedError struct{ Reason error }

// Error returns the reason.
func (r *RefusedError) Error() string { return r.Reason.Error() }

// Unwrap returns the reason.
func (r *RefusedError) Unwrap() error { return r.Reason }

// Kind is what a body is.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Bytes
)

// Message is what is sent.
type Message struct {
	Address    string
	Body       []byte
	Kind       Kind
	Properties []Property
	// ID and CorrelationID are nil, or of a type that the protocol knows.
	ID, CorrelationID any
	ReplyTo           string
	ContentType       string
	Durable           bool
	Priority          *uint8
	// Typed is whether the answer says for JMS what kind it is.
	Typed bool
	// Copied is the request that this is a copy of, for another address; else nil.
	Copied *Delivery
}

// Property is an application property. Its value is of a type that the protocol
// knows; every protocol knows strings.
type Property struct {
	Name  string
	Value any
}

// Delivery is a request.
type Delivery struct {
	Message
	Redelivered bool
	// Native is what the protocol received.
	Native any
}

// Guarded calls do. It returns what that has panicked with, as an error with the
// stack, or nil.
func Guarded(do func()) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	do()
	return nil
}
