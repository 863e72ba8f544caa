// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Place is where a request has a value: `query`, `header` or `body` (the member
// of a JSON object or form), and its name there.
type Place struct{ In, Name string }

// ofBody reports whether the place is in a request's body.
func (p Place) ofBody() bool { return p.In == "body" || p.In == "form" }

// String returns the place as comments and messages have it.
func (p Place) String() string { return p.In + " " + p.Name }

// sample is an exchange as the search for a key sees it.
type sample struct {
	answer uint64 // status and body
	coarse uint64 // status and form of the body
	values []placed
}

type placed struct {
	at    Place
	value string
}

// size returns about how many bytes the sample takes.
func (s *sample) size() int {
	const own, each = 64, 64
	n := own
	for i := range s.values {
		n += each + len(s.values[i].at.Name) + len(s.values[i].value)
	}
	return n
}

const (
	maxMembers   = 40  // of a request
	maxKeyValue  = 100 // bytes of a value
	maxBodyRead  = 64 << 10
	maxVariants  = 20   // values of a key that have a route of their own
	leastVariant = 10   // requests that such a value has
	leastGain    = 0.05 // bits that a key has to take off the entropy of the answer
	leastShare   = 0.05 // and its share of that entropy
)

// passing are header fields that say nothing about what is asked for.
var passing = map[string]bool{
	"host": true, "user-agent": true, "content-length": true, "connection": true, "cookie": true, "authorization": true, "date": true,
	"x-forwarded-for": true, "x-forwarded-host": true, "x-forwarded-proto": true, "x-real-ip": true, "x-request-id": true, "via": true,
	"forwarded": true, "traceparent": true, "tracestate": true, "referer": true, "accept-encoding": true, "transfer-encoding": true, "te": true,
	"x-rehearsal-copy": true,
}

func sampleOf(r *recording.Request) sample {
	s := sample{values: placesOf(r)}
	hash := fnv.New64a()
	status := [2]byte{byte(r.Response.Status >> 8), byte(r.Response.Status)}
	_, _ = hash.Write(status[:])
	s.coarse = hash.Sum64() ^ formOf(r.Response.Body)
	_, _ = hash.Write(r.Response.Body)
	s.answer = hash.Sum64()
	return s
}

// placesOf returns the values of a request that may be part of its key.
func placesOf(r *recording.Request) []placed {
	var all []placed
	add := func(in, name, value string) {
		secret := isSecretName(name) || isSecretValue(value)
		if len(all) < maxMembers && len(value) <= maxKeyValue && len(name) <= maxKeyValue && !secret {
			all = append(all, placed{Place{in, name}, value})
		}
	}
	if _, query, ok := bytes.Cut(r.URI, []byte{'?'}); ok {
		addForm(string(query), "query", add)
	}
	for name, value := range recording.EachField(r.Headers) {
		if lower := strings.ToLower(string(name)); !passing[lower] {
			add("header", string(name), string(value))
		}
	}
	if len(r.Body) == 0 || len(r.Body) > maxBodyRead {
		return all
	}
	switch body := bytes.TrimSpace(r.Body); {
	case len(body) > 0 && body[0] == '{':
		var members map[string]any
		if json.Unmarshal(body, &members) != nil {
			return all
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			switch value := members[name].(type) {
			case string:
				add("body", name, value)
			case bool, float64:
				text, _ := json.Marshal(value)
				add("body", name, string(text))
			}
		}
	case bytes.Contains(body, []byte{'='}) && !bytes.ContainsAny(body, " \n"):
		addForm(string(body), "form", add)
	}
	return all
}

func addForm(text, in string, add func(in, name, value string)) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		add(in, name, values[name][0])
	}
}

// formOf returns a hash of what kind of body it is: the names of a JSON
// document's members, or whether there is one.
func formOf(body []byte) uint64 {
	hash := fnv.New64a()
	for _, path := range membersOf(body) {
		_, _ = hash.Write([]byte(path + "\n"))
	}
	return hash.Sum64()
}

// findKey returns the places whose values foretell the answer, at most two. Each
// value is judged by the other requests that have it, so that one which never
// comes twice, like a time or a random number, foretells nothing.
func findKey(samples []sample) []Place {
	distinct := make(map[uint64]bool)
	for _, s := range samples {
		distinct[s.answer] = true
	}
	label := func(s *sample) uint64 { return s.answer }
	if len(distinct) > len(samples)/4 {
		label = func(s *sample) uint64 { return s.coarse } // answers hardly come twice
	}
	keys := make([]string, len(samples))
	entropy := surprise(samples, keys, label)
	var chosen []Place
	for len(chosen) < 2 {
		best, least := Place{}, entropy-max(leastGain, leastShare*entropy)
		for _, place := range placesIn(samples) {
			if slices.Contains(chosen, place) {
				continue
			}
			joined := with(samples, keys, place)
			if values := countOf(joined); len(values) > 1 && len(values) <= len(samples)/2 {
				if after := surprise(samples, joined, label); after < least {
					best, least = place, after
				}
			}
		}
		if best == (Place{}) {
			break
		}
		chosen = append(chosen, best)
		keys = with(samples, keys, best)
		entropy = least
	}
	return chosen
}

// placesIn returns the places that samples have values at, in their order.
func placesIn(samples []sample) []Place {
	all := make(map[Place]bool)
	for _, s := range samples {
		for _, v := range s.values {
			if len(all) < 200 {
				all[v.at] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b Place) int { return strings.Compare(a.String(), b.String()) })
}

// with returns the keys of samples joined by their values at another place.
func with(samples []sample, keys []string, place Place) []string {
	joined := make([]string, len(keys))
	for i, s := range samples {
		value := "\x00"
		for _, v := range s.values {
			if v.at == place {
				value = v.value
			}
		}
		joined[i] = keys[i] + "\x01" + value
	}
	return joined
}

func countOf(keys []string) map[string]int {
	n := make(map[string]int)
	for _, key := range keys {
		n[key]++
	}
	return n
}

// surprise returns the mean number of bits that each answer costs somebody who
// knows the answers to all other requests of the same key.
func surprise(samples []sample, keys []string, label func(*sample) uint64) float64 {
	type pair struct {
		key   string
		label uint64
	}
	ofKey, ofPair, ofLabel := make(map[string]float64), make(map[pair]float64), make(map[uint64]float64)
	for i := range samples {
		l := label(&samples[i])
		ofKey[keys[i]]++
		ofPair[pair{keys[i], l}]++
		ofLabel[l]++
	}
	n, kinds := float64(len(samples)), float64(len(ofLabel)+1)
	bits := 0.0
	for i := range samples {
		l := label(&samples[i])
		known := (ofLabel[l] - 1 + 1/kinds) / (n - 1 + 1) // without a key
		const weight = 1                                  // of what is known without the key
		bits -= math.Log2((ofPair[pair{keys[i], l}] - 1 + weight*known) / (ofKey[keys[i]] - 1 + weight))
	}
	return bits / max(n, 1)
}
