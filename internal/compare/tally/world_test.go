// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
)

// world is two versions of a service, and how requests reach them.
type world struct {
	random *rand.Rand
	// answer returns the body that a version has for a request.
	answer      func(w *world, version, request int) string
	diff, noise *compare.Comparer
	tally       *Tally
	asked       int
}

func newWorld(t testing.TB, seed uint64, o Options, answer func(w *world, version, request int) string) *world {
	t.Helper()
	rules, err := compare.NewRules(compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		random: rand.New(rand.NewPCG(seed, 1)), answer: answer,
		diff: compare.NewComparer(rules), noise: compare.NewComparer(rules), tally: New(o),
	}
}

const (
	oldVersion = iota
	newVersion
)

func (w *world) response(version, request int) *compare.Response {
	return &compare.Response{
		Status: 200, Header: []byte("Content-Type: application/json\r\n"), Body: []byte(w.answer(w, version, request)),
		Duration: time.Duration(10+w.random.IntN(10)) * time.Millisecond,
	}
}

// currency is JPY for one request in a hundred, spread evenly.
func currency(request int) string {
	if request*37%100 == 11 {
		return "JPY"
	}
	return []string{"EUR", "USD", "GBP"}[request%3]
}

// pairs sends n requests to old, new and, if measured, old once more.
func (w *world) pairs(n int, measured bool) {
	for i := range n {
		old, new := w.response(oldVersion, i), w.response(newVersion, i)
		p := Pair{
			ID: strconv.Itoa(i), Method: []byte("GET"), Target: fmt.Appendf(nil, "/items/%d?currency=%s&page=%d", i, currency(i), i%7),
			Header: []byte("Accept: */*\r\nUser-Agent: test\r\n"), Old: old, New: new, Diff: w.diff.Compare(old, new),
		}
		if measured {
			p.Noise = w.noise.Compare(old, w.response(oldVersion, i))
		}
		w.tally.Add(&p)
	}
}

// confirm asks again what is to be asked.
func (w *world) confirm(seed uint64) {
	c := w.tally.Confirm(seed)
	for asks := c.Next(); len(asks) > 0; asks = c.Next() {
		for _, ask := range asks {
			request, _ := strconv.Atoi(ask.ID)
			w.asked++
			for round := range ask.Rounds {
				var got [3]*compare.Response
				for _, system := range ask.Order(round) {
					version := oldVersion
					if system == NewSystem {
						version = newVersion
					}
					got[system] = w.response(version, request)
				}
				diff := w.diff.Compare(got[Old], got[NewSystem])
				var noise *compare.Result
				if got[Twin] != nil {
					noise = w.noise.Compare(got[Old], got[Twin])
				}
				c.Record(ask.ID, diff, noise)
			}
		}
	}
}

// noisy is a value that is another in 15 % of the responses.
func (w *world) noisy(value int) int {
	if w.random.Float64() < 0.15 {
		return value + 1 + w.random.IntN(1000)
	}
	return value
}

// differentPrice is another price in new where the currency is JPY; beside it
// one member is noisy, and one always random.
func differentPrice(w *world, version, request int) string {
	price := 100
	if version == newVersion && currency(request) == "JPY" {
		price = 110
	}
	return fmt.Sprintf(`{"item":{"price":%d,"stock":%d},"trace":%d}`, price, w.noisy(7), w.random.Int64())
}

// differentStock is the same change within the noisy member.
func differentStock(w *world, version, request int) string {
	stock := 7
	if version == newVersion && currency(request) == "JPY" {
		stock = 8
	}
	return fmt.Sprintf(`{"item":{"price":100,"stock":%d},"trace":%d}`, w.noisy(stock), w.random.Int64())
}

func unchanged(w *world, _, _ int) string {
	return fmt.Sprintf(`{"item":{"price":100,"stock":%d},"trace":%d}`, w.noisy(7), w.random.Int64())
}
