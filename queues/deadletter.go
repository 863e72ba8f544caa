// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

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
