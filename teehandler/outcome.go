// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"context"
	"errors"
	"net"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// outcome is what became of a copy.
type outcome int

const (
	none outcome = iota
	sent1xx
	sent2xx
	sent3xx
	sent4xx
	sent5xx
	failedConnect
	failedTLS
	failedSend
	failedReceive
	failedResponse
	failedHandler
	failedPanic
	timedOut
	droppedQueue
	droppedRate
	droppedMemory
	droppedBodySize
	droppedBodyIncomplete
	droppedStatus
	droppedUnsupported
	droppedLoop
	outcomes
)

// outcomeNames are the values of the metric's label.
var outcomeNames = [outcomes]string{
	sent1xx:               "sent_1xx",
	sent2xx:               "sent_2xx",
	sent3xx:               "sent_3xx",
	sent4xx:               "sent_4xx",
	sent5xx:               "sent_5xx",
	failedConnect:         "failed_connect",
	failedTLS:             "failed_tls",
	failedSend:            "failed_send",
	failedReceive:         "failed_receive",
	failedResponse:        "failed_response",
	failedHandler:         "failed_handler",
	failedPanic:           "failed_panic",
	timedOut:              "timed_out",
	droppedQueue:          "dropped_queue",
	droppedRate:           "dropped_rate",
	droppedMemory:         "dropped_memory",
	droppedBodySize:       "dropped_body_size",
	droppedBodyIncomplete: "dropped_body_incomplete",
	droppedStatus:         "dropped_status",
	droppedUnsupported:    "dropped_unsupported",
	droppedLoop:           "dropped_loop",
}

// sentWith gives the outcome of a copy that was answered.
func sentWith(status int) outcome {
	switch {
	case status < 200:
		return sent1xx
	case status < 300:
		return sent2xx
	case status < 400:
		return sent3xx
	case status < 500:
		return sent4xx
	default:
		return sent5xx
	}
}

// failedWith gives the outcome of a copy that was not answered.
func failedWith(err error) outcome {
	if isTimeout(err) {
		return timedOut
	}
	if _, ok := errors.AsType[*panicError](err); ok {
		return failedPanic
	}
	exchange, ok := errors.AsType[*http1.Error](err)
	if !ok {
		return failedHandler
	}
	switch exchange.Stage {
	case http1.Connect:
		return failedConnect
	case http1.Handshake:
		return failedTLS
	case http1.Send:
		return failedSend
	case http1.Malformed:
		return failedResponse
	case http1.Receive:
	}
	return failedReceive
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
