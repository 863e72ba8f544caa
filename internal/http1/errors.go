// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

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

// Kind is a kind of failure: why a request has no response.
type Kind uint8

// The kinds of failure.
const (
	Refused     Kind = iota // nothing listens there
	Unreachable             // no connection for another reason
	DNS                     // the name has no address
	TLS                     // the handshake failed, or the certificate of one side
	Timeout                 // no complete response in time
	Closed                  // the connection was ended before the response began
	Reset                   // the connection was reset before the response began
	CutOff                  // the connection was ended or reset within the response
	Malformed               // the response is not HTTP
	Unsendable              // the request is not valid
	Interrupted             // the caller has ended it meanwhile
	Kinds                   // how many there are
)

var kindNames = [Kinds]string{
	"refused", "unreachable", "dns", "tls", "timeout", "closed", "reset", "cut off", "malformed", "unsendable", "interrupted",
}

// String returns the kind's name in reports and logs.
func (k Kind) String() string { return kindNames[k] }

// Error is the failure of an exchange.
type Error struct {
	// Kind is what failed.
	Kind Kind
	// Sending reports whether that was before all of the request had left.
	Sending bool
	// Err is the cause.
	Err error
}

// Error returns the kind and the cause.
func (e *Error) Error() string { return e.Kind.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error of this package. Another error is
// classified as one that a connection returns.
func KindOf(err error) Kind { return kindOf(err, Malformed) }

// kindOf classifies an error of a connection; other is the kind for what is not
// an error of the network.
func kindOf(err error, other Kind) Kind {
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
	case ofTLS(err):
		return TLS
	}
	return other
}

// ofTLS reports whether TLS failed. An alert may come after the handshake: a
// server of TLS 1.3 that misses the client's certificate says so only then.
func ofTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	if errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verification) ||
		errors.As(err, &authority) || errors.As(err, &host) {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "remote error" || op.Op == "local error") // crypto/tls alone has these
}

// DialError returns the error of opening a connection.
func DialError(err error) *Error {
	var dnsErr *net.DNSError
	switch kind := kindOf(err, Unreachable); {
	case kind == Timeout, kind == Interrupted:
		return &Error{Kind: kind, Err: err}
	case errors.As(err, &dnsErr):
		return &Error{Kind: DNS, Err: err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Error{Kind: Refused, Err: err}
	case kind == TLS, kind == Reset:
		return &Error{Kind: kind, Err: err}
	}
	return &Error{Kind: Unreachable, Err: err}
}

// HandshakeError returns the error of a TLS handshake.
func HandshakeError(err error) *Error {
	if kind := kindOf(err, TLS); kind == Timeout || kind == Interrupted {
		return &Error{Kind: kind, Err: err}
	}
	return &Error{Kind: TLS, Err: err}
}

// WithinResponse returns an error after the first byte of a response.
func WithinResponse(err error) *Error {
	kind := kindOf(err, Malformed)
	if kind == Reset {
		kind = CutOff
	}
	return &Error{Kind: kind, Err: err}
}
