// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"cmp"
	"strings"
)

// Slot is a place in the requests, or in the responses, of one endpoint.
type Slot struct {
	// Endpoint is method and template of the path: `POST /carts/*/items`.
	Endpoint string `json:"endpoint"`

	// Place is where in the message the value stands.
	Place Place `json:"place"`
}

// String returns endpoint and place.
func (s Slot) String() string { return s.Endpoint + " " + s.Place.String() }

func (s Slot) compare(other Slot) int {
	return cmp.Or(strings.Compare(s.Endpoint, other.Endpoint), cmp.Compare(s.Place.Kind, other.Place.Kind),
		strings.Compare(s.Place.Name, other.Place.Name), cmp.Compare(s.Place.Segment, other.Place.Segment))
}

// Link is a consumer slot whose value comes from a producer slot: from the
// latest earlier response of the session that has it.
type Link struct {
	// Consumer is where requests have the value.
	Consumer Slot `json:"consumer"`

	// Producer is where earlier responses have it.
	Producer Slot `json:"producer"`

	// Sessions is in how many sessions both were found.
	Sessions int `json:"sessions"`

	// Support is the share of those sessions in which the values are equal, from
	// 0 to 1.
	Support float64 `json:"support"`

	// Chance is the share of pairs with other sessions' producers in which they
	// are equal, from 0 to 1.
	Chance float64 `json:"chance"`

	// Example is one pair of equal values. A file may be without.
	Example Example `json:"example,omitzero"`
}

// Example is one value that went from a response into a request.
type Example struct {
	// Value is the value, or its beginning.
	Value string `json:"value"`

	// Producer is the identifier of the record whose response had it.
	Producer string `json:"producer"`

	// Consumer is the identifier of the record whose request had it.
	Consumer string `json:"consumer"`
}
