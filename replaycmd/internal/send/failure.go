// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Kind is a kind of failure: why a request has no answer.
type Kind uint8

// The kinds of failure.
const (
	Refused     Kind = iota // nothing listens there
	Unreachable             // no connection for another reason
	DNS                     // the name has no address
	TLS                     // the handshake failed
	Timeout                 // no complete answer in time
	Closed                  // the connection was ended before the answer began
	Reset                   // the connection was reset before the answer began
	CutOff                  // the connection was ended or reset within the answer
	Malformed               // the answer is not HTTP
	Unsendable              // the record is not a valid request
	Interrupted             // the run was ended meanwhile
	Kinds                   // how many there are
)

var kindNames = [Kinds]string{
	"refused", "unreachable", "dns", "tls", "timeout", "closed", "reset", "cut off", "malformed", "unsendable", "interrupted",
}

// String names the kind as the report does.
func (k Kind) String() string { return kindNames[k] }

// Error is the error of a request that has no answer.
type Error struct {
	Kind Kind
	Err  error
}

// Error says the kind and the cause.
func (f *Error) Error() string { return f.Kind.String() + ": " + f.Err.Error() }

// Unwrap gives the cause.
func (f *Error) Unwrap() error { return f.Err }

func fail(kind Kind, err error) *Error { return &Error{Kind: kind, Err: err} }

// KindOf gives the kind of an error of Client.Send.
func KindOf(err error) Kind {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Kind
	}
	return ofNetwork(err, Malformed)
}

// ofNetwork classifies an error of a connection; other is the kind for what is
// not an error of the network.
func ofNetwork(err error, other Kind) Kind {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Kind
	}
	var netErr net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, net.ErrClosed):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &netErr) && netErr.Timeout():
		return Timeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return Reset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return CutOff
	case isTLS(err):
		return TLS
	}
	return other
}

// ofDialing classifies an error of opening a connection.
func ofDialing(err error) *Error {
	var dnsErr *net.DNSError
	switch kind := ofNetwork(err, Unreachable); {
	case kind == Timeout, kind == Interrupted:
		return fail(kind, err)
	case errors.As(err, &dnsErr):
		return fail(DNS, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(Refused, err)
	case kind == TLS, kind == Reset:
		return fail(kind, err)
	}
	return fail(Unreachable, err)
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verification) ||
		errors.As(err, &authority) || errors.As(err, &host)
}
