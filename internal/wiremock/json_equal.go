// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"strconv"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// equalToJSON compares JSON by its meaning. What a client sent is compared as
// it is written: most of the time nothing is built of it.
type equalToJSON struct {
	expected    any
	text        string
	anyOrder    bool // of the elements of arrays
	extraFields bool // and elements of arrays are no difference
}

func (p *equalToJSON) String() string { return "equalToJson " + p.text }

func (p *equalToJSON) matches(v value) bool {
	return v.present && v.isJSON() && p.equal(p.expected, v.text, nextValue(v.text, 0), v.budget) >= 0
}

// equal returns where the value ends that begins at i, if it is the expected one,
// else a negative number.
func (p *equalToJSON) equal(expected any, text string, i int, b *eval.Budget) int {
	switch e := expected.(type) {
	case *expectedObject:
		if text[i] != '{' || !b.Spend(1) {
			return -1
		}
		return p.equalObjects(e, text, i+1, b)
	case []any:
		switch {
		case text[i] != '[' || !b.Spend(1):
			return -1
		case p.anyOrder:
			return p.equalSets(e, text, i+1, b)
		}
		return p.equalLists(e, text, i+1, b)
	}
	end := endOfValue(text, i)
	if !b.Read(end-i) || !equalPlain(expected, text[i:end], b) {
		return -1
	}
	return end
}

// equalPlain compares what has neither members nor elements, or is only described.
func equalPlain(expected any, actual string, b *eval.Budget) bool {
	switch e := expected.(type) {
	case nil:
		return actual == "null"
	case bool:
		return actual == strconv.FormatBool(e)
	case string:
		return actual[0] == '"' && jsonString(actual) == e
	case placeholder:
		if !b.Spend(len(actual)) {
			return false
		}
		data, ok := eval.ParseJSON(actual)
		return ok && e(data, b)
	}
	return equalNumbers(expected, actual)
}

func (p *equalToJSON) equalObjects(expected *expectedObject, text string, i int, b *eval.Budget) int {
	var few [16]bool
	found, met := 0, few[:]
	if len(expected.values) > len(few) {
		met = make([]bool, len(expected.values))
	}
	likely := 0
	for i = nextValue(text, i); !isClosing(text, i); i = nextValue(text, i) {
		end := endOfQuoted(text, i)
		name := jsonString(text[i:end])
		i = nextValue(text, end)
		if !b.Read(end - i) {
			return -1
		}
		place, ok := expected.place(name, likely)
		switch {
		case ok:
			begin := i
			if i = p.equal(expected.values[place], text, begin, b); i < 0 {
				if i = endOfValue(text, begin); !comesAgain(text, i, name, b) {
					return -1
				}
				continue // the last value of a name counts
			}
			likely = place + 1
		case p.extraFields:
			end = endOfValue(text, i)
			if !b.Read(end - i) {
				return -1
			}
			i = end
			continue
		default:
			return -1
		}
		if !met[place] {
			met[place] = true
			found++
		}
	}
	if found < len(expected.values) {
		return -1
	}
	return i + 1
}

// comesAgain reports whether an object has another member of a name behind i.
func comesAgain(text string, i int, name string, b *eval.Budget) bool {
	for i = nextValue(text, i); !isClosing(text, i); i = nextValue(text, i) {
		end := endOfQuoted(text, i)
		if jsonString(text[i:end]) == name {
			return true
		}
		end = endOfValue(text, nextValue(text, end))
		if !b.Spend((end - i) / 32) { // members of usual size cost nothing twice
			return false
		}
		i = end
	}
	return false
}

func (p *equalToJSON) equalLists(expected []any, text string, i int, b *eval.Budget) int {
	for _, e := range expected {
		if i = nextValue(text, i); isClosing(text, i) {
			return -1
		}
		if i = p.equal(e, text, i, b); i < 0 {
			return -1
		}
	}
	for i = nextValue(text, i); !isClosing(text, i); i = nextValue(text, i) {
		end := endOfValue(text, i)
		if !p.extraFields || !b.Read(end-i) {
			return -1
		}
		i = end
	}
	return i + 1
}

// equalSets finds for every expected element one of its own, in any order.
func (p *equalToJSON) equalSets(expected []any, text string, i int, b *eval.Budget) int {
	var fewPlaces, fewOwners [16]int
	var fewTried [16]bool
	at := fewPlaces[:0] // where elements begin
	for i = nextValue(text, i); !isClosing(text, i); i = nextValue(text, i) {
		end := endOfValue(text, i)
		if !b.Read(end - i) {
			return -1
		}
		at, i = append(at, i), end
	}
	if len(at) < len(expected) || len(at) > len(expected) && !p.extraFields {
		return -1
	}
	if !b.Spend(2 * len(at)) {
		return -1
	}
	owner, tried := fewOwners[:], fewTried[:]
	if len(at) > len(tried) {
		owner, tried = make([]int, len(at)), make([]bool, len(at))
	}
	for e := range expected {
		clear(tried)
		if !b.Read(len(at)) || !p.assign(e, expected, text, at, owner, tried, b) {
			return -1
		}
	}
	return i + 1
}

// assign finds for an expected element one of those that begin at places of the
// text, moving others if need be. The owner of each is 1 + the index of the
// expected element that has it.
func (p *equalToJSON) assign(e int, expected []any, text string, at, owner []int, tried []bool, b *eval.Budget) bool {
	for j := range at {
		if tried[j] {
			if !b.Spend(1) {
				return false
			}
			continue
		}
		if p.equal(expected[e], text, at[j], b) < 0 {
			continue
		}
		tried[j] = true
		if owner[j] == 0 || p.assign(owner[j]-1, expected, text, at, owner, tried, b) {
			owner[j] = e + 1
			return true
		}
	}
	return false
}

// equalNumbers compares integers exactly, and by their text those that no
// number of Go's holds.
func equalNumbers(expected any, actual string) bool {
	if c := actual[0]; c != '-' && (c < '0' || c > '9') {
		return false
	}
	switch e := expected.(type) {
	case int64:
		if a, err := strconv.ParseInt(actual, 10, 64); err == nil {
			return e == a
		}
		return float64(e) == float(actual)
	case float64:
		return e == float(actual)
	case json.Number:
		a, ok := eval.ParseJSON(actual) // which writes exponents in its own way
		return ok && a == e
	}
	return false
}

// float reads a number; one that is too large is infinite.
func float(number string) float64 {
	f, _ := strconv.ParseFloat(number, 64)
	return f
}
