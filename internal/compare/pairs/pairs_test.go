// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

func options(t *testing.T, news int, noise bool) pairs.Options {
	t.Helper()
	rules, err := compare.NewRules(compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := pairs.Options{Rules: rules, Noise: noise}
	for range news {
		o.Tallies = append(o.Tallies, tally.New(tally.Options{Noise: noise}))
	}
	return o
}

func request(i int) *pairs.Request {
	return &pairs.Request{ID: fmt.Sprint("id", i), Method: []byte("GET"), Target: fmt.Appendf(nil, "/items?i=%d", i)}
}

func response(body string) *compare.Response {
	return &compare.Response{Status: 200, Header: []byte("Content-Type: application/json\r\n"), Body: []byte(body)}
}

func partial(t *testing.T, table *tally.Table, want map[string]int64) {
	t.Helper()
	if !maps.Equal(table.Partial, want) {
		t.Errorf("not compared: %v, want %v", table.Partial, want)
	}
}

// TestJoined has three systems respond to 500 requests, each from a goroutine of
// its own and in its own order.
func TestJoined(t *testing.T) {
	o := options(t, 2, true)
	var differ atomic.Int64
	o.Compared = func(system int, p *tally.Pair) {
		if len(p.Diff.Differences) > 0 {
			differ.Add(1)
			if system != 1 || p.ID == "" || string(p.New.Body) == string(p.Old.Body) {
				t.Errorf("system %d, pair %q: %s and %s", system, p.ID, p.Old.Body, p.New.Body)
			}
		}
	}
	pool := pairs.New(o)
	exchanges := make([]*pairs.Exchange, 500)
	for i := range exchanges {
		exchanges[i] = pool.Begin(request(i))
	}
	var all sync.WaitGroup
	for _, from := range []pairs.Side{pairs.Old, pairs.Twin, pairs.NewSystem(0), pairs.NewSystem(1)} {
		all.Go(func() {
			buffer := response("")
			for n := range exchanges {
				i := (n*7 + int(from)*131) % len(exchanges)
				price := 100
				if from == pairs.NewSystem(1) && i%50 == 0 {
					price = 110
				}
				buffer.Body = fmt.Appendf(buffer.Body[:0], `{"price":%d,"i":%d}`, price, i)
				exchanges[i].Respond(from, buffer)
			}
		})
	}
	all.Wait()
	pool.Close()
	for i, want := range []int{0, 1} {
		table := o.Tallies[i].Table()
		if table.Pairs != 500 || len(table.Rows) != want {
			t.Errorf("system %d: %d pairs, %v", i, table.Pairs, table.Rows)
		}
		partial(t, table, map[string]int64{})
	}
	if differ.Load() != 10 {
		t.Errorf("told of %d pairs that differ, want 10", differ.Load())
	}
}

func TestReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, 2, true)
		o.Timeout = time.Second
		var skipped atomic.Int64
		o.Skipped = func(int, string) { skipped.Add(1) }
		pool := pairs.New(o)

		late := pool.Begin(request(0))
		late.Respond(pairs.Old, response("1"))
		late.Respond(pairs.Twin, response("1"))
		late.Respond(pairs.NewSystem(1), response("1"))
		failed := pool.Begin(request(1))
		failed.Respond(pairs.Old, response("1"))
		failed.Fail(pairs.NewSystem(0), "failed")
		failed.Respond(pairs.NewSystem(0), response("1")) // only the first counts
		failed.Fail(pairs.Twin, "failed")
		failed.Respond(pairs.NewSystem(1), response("1"))
		broken := pool.Begin(request(2))
		broken.Fail(pairs.Old, "too_large")

		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		late.Respond(pairs.NewSystem(0), response("1"))
		partial(t, o.Tallies[0].Table(), map[string]int64{pairs.TimedOut: 1, "failed": 1, "too_large": 1})
		partial(t, o.Tallies[1].Table(), map[string]int64{tally.NoTwin: 1, "too_large": 1})
		if n := o.Tallies[1].Table().Pairs; n != 1 {
			t.Errorf("%d pairs, want the one whose responses came", n)
		}
		if skipped.Load() != 5 {
			t.Errorf("told of %d pairs, want 5", skipped.Load())
		}
		pool.Close()
	})
}

// TestBounded fills a pool in number and in bytes. What came in time is compared
// still, and closing does not wait for what never comes.
func TestBounded(t *testing.T) {
	o := options(t, 1, false)
	o.Waiting, o.Memory = 10, pairs.NewMemory(10_000)
	pool := pairs.New(o)
	var open []*pairs.Exchange
	for i := range 15 {
		x := pool.Begin(request(i))
		if (x == nil) != (i >= 10) {
			t.Errorf("exchange %d: %v", i, x)
		}
		open = append(open, x)
	}
	open[0].Respond(pairs.Old, response(string(make([]byte, 20_000))))
	for _, x := range open[:5] {
		x.Respond(pairs.Old, response("1"))
		x.Respond(pairs.NewSystem(0), response("1"))
	}
	open[12].Respond(pairs.Old, response("1")) // nil
	pool.Close()
	if x := pool.Begin(request(0)); x != nil {
		t.Error("a closed pool takes requests")
	}
	table := o.Tallies[0].Table()
	if table.Pairs != 4 {
		t.Errorf("%d pairs, want 4", table.Pairs)
	}
	partial(t, table, map[string]int64{pairs.Shed: 7, pairs.TimedOut: 5})
}

// TestMemoryIsShared has two pools take of one memory, for responses that are copied
// and some that are handed over: in the end nothing is taken.
func TestMemoryIsShared(t *testing.T) {
	const size = 100_000
	memory := pairs.NewMemory(5 * size)
	large := response(strings.Repeat("1", size))
	var pools []*pairs.Pool
	var tallies []*tally.Tally
	for range 2 {
		o := options(t, 1, false)
		o.Memory = memory
		pools, tallies = append(pools, pairs.New(o)), append(tallies, o.Tallies[0])
	}
	var open []*pairs.Exchange
	for i := range 5 { // requests take a little, so that the fifth response does not fit
		x := pools[i%2].Begin(request(i))
		x.Respond(pairs.Old, large)
		open = append(open, x)
	}
	for _, x := range open {
		x.Respond(pairs.NewSystem(0), response("1"))
	}
	handed := pools[1].Begin(request(5))
	for range 2 { // the second is too late
		for !memory.Take(size) { // others are compared still
			runtime.Gosched()
		}
		handed.Adopt(pairs.Old, large, size)
	}
	for !memory.Take(size) {
		runtime.Gosched()
	}
	handed.Adopt(pairs.NewSystem(0), &compare.Response{Status: 200, Header: make([]byte, 5*size)}, size)
	for i, p := range pools {
		p.Close()
		if n := tallies[i].Table().Pairs; n != 2 {
			t.Errorf("%d pairs were compared, want 2", n)
		}
		partial(t, tallies[i].Table(), map[string]int64{pairs.Shed: 1})
	}
	if held := memory.Held(); held != 0 {
		t.Errorf("%d bytes are held in the end", held)
	}
}

// TestLargeBodiesAreComparedOneByOne has workers of two pools compare bodies that are
// large, or become so when they are unpacked.
func TestLargeBodiesAreComparedOneByOne(t *testing.T) {
	plain := `{"a":"` + strings.Repeat("x", 200_000) + `","b":%d}`
	packed := func(text string) *compare.Response {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		w.Close()
		return &compare.Response{Status: 200, Header: []byte("Content-Encoding: gzip\r\nContent-Type: application/json\r\n"), Body: b.Bytes()}
	}
	var running, most atomic.Int64
	var pools []*pairs.Pool
	var tallies []*tally.Tally
	for range 2 {
		o := options(t, 1, true)
		o.Workers = 4
		o.Compared = func(int, *tally.Pair) {
			most.Store(max(most.Load(), running.Add(1)))
			for range 1000 {
				runtime.Gosched()
			}
			running.Add(-1)
		}
		pools, tallies = append(pools, pairs.New(o)), append(tallies, o.Tallies[0])
	}
	for i := range 100 {
		x := pools[i%2].Begin(request(i))
		make := response
		if i%4 > 1 {
			make = packed
		}
		x.Respond(pairs.Old, make(fmt.Sprintf(plain, 1)))
		x.Respond(pairs.Twin, make(fmt.Sprintf(plain, 1+i%10/9)))
		x.Respond(pairs.NewSystem(0), make(fmt.Sprintf(plain, 2)))
	}
	for i, p := range pools {
		p.Close()
		table := tallies[i].Table()
		if table.Pairs != 50 || len(table.Rows) != 1 || table.Rows[0].Differing == 0 || table.Rows[0].Field != "$.b" {
			t.Errorf("%d pairs, %+v", table.Pairs, table.Rows)
		}
	}
	if n := most.Load(); n != 1 {
		t.Errorf("%d large comparisons were made at the same time", n)
	}
}

// TestKeys has sides join that know nothing of one another, the second one only
// when the first has gone far ahead: what was shed for it waits for nobody.
func TestKeys(t *testing.T) {
	o := options(t, 1, false)
	o.Waiting = 100
	pool := pairs.New(o)
	for i := range 1000 {
		pool.Join(uint64(i), request(i)).Respond(pairs.Old, response("1"))
	}
	for i := range 1000 {
		x := pool.Join(uint64(i), request(i))
		if (x == nil) != (i >= 100) {
			t.Fatalf("key %d: %v", i, x)
		}
		x.Respond(pairs.NewSystem(0), response("2"))
	}
	pool.Close()
	table := o.Tallies[0].Table()
	if table.Pairs != 100 || len(table.Rows) != 1 {
		t.Errorf("%d pairs, fields %v", table.Pairs, table.Rows)
	}
	partial(t, table, map[string]int64{pairs.Shed: 900})
}

// TestPanic has a hook panic: the pool goes on.
func TestPanic(t *testing.T) {
	o := options(t, 2, false)
	o.Compared = func(system int, p *tally.Pair) {
		if p.ID == "id1" {
			panic("no")
		}
	}
	pool := pairs.New(o)
	for i := range 3 {
		x := pool.Begin(request(i))
		x.Respond(pairs.Old, response("1"))
		x.Respond(pairs.NewSystem(0), response("1"))
		x.Respond(pairs.NewSystem(1), response("1"))
	}
	pool.Close()
	partial(t, o.Tallies[1].Table(), map[string]int64{pairs.Panicked: 1})
	if n := o.Tallies[1].Table().Pairs; n != 2 {
		t.Errorf("%d pairs, want 2", n)
	}
}

// TestPatient has one worker held up: those who hand in responses compare then,
// and nothing is shed.
func TestPatient(t *testing.T) {
	o := options(t, 1, false)
	o.Workers, o.Waiting, o.Patient = 1, 100, true
	held, compared := make(chan struct{}), make(chan struct{}, 1000)
	var first atomic.Bool
	o.Compared = func(int, *tally.Pair) {
		if first.CompareAndSwap(false, true) {
			<-held
		}
		compared <- struct{}{}
	}
	pool := pairs.New(o)
	respond := func(i int) {
		x := pool.Begin(request(i))
		x.Respond(pairs.Old, response("1"))
		x.Respond(pairs.NewSystem(0), response("2"))
	}
	behind := make(chan struct{})
	go func() {
		defer close(behind)
		respond(0)
	}()
	for !first.Load() { // it is being compared
		runtime.Gosched()
	}
	for i := range 999 {
		respond(1 + i)
	}
	if n := len(compared); n != 999 {
		t.Errorf("%d pairs of 999 were compared while one took long", n)
	}
	close(held)
	<-behind
	pool.Close()
	table := o.Tallies[0].Table()
	if table.Pairs != 1000 {
		t.Errorf("%d pairs, want 1000", table.Pairs)
	}
	partial(t, table, map[string]int64{})
}

func BenchmarkExchange(b *testing.B) {
	rules, _ := compare.NewRules(compare.Options{})
	o := pairs.Options{Rules: rules, Tallies: []*tally.Tally{tally.New(tally.Options{Live: true})}, Waiting: 1 << 20}
	pool := pairs.New(o)
	r, body := request(1), response(`{"a":"`+string(make([]byte, 2000))+`"}`)
	b.ReportAllocs()
	for b.Loop() {
		x := pool.Begin(r)
		x.Respond(pairs.Old, body)
		x.Respond(pairs.NewSystem(0), body)
	}
	pool.Close()
}
