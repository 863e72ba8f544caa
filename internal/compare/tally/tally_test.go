// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
)

// rows returns the rows of a table by field.
func rows(table *Table) map[string]Row {
	all := make(map[string]Row)
	for _, r := range table.Rows {
		all[r.Field] = r
	}
	return all
}

// TestFindsTheOneDifference has 8 runs of 2,000 pairs: the changed member is
// found each time with what it depends on, and noise is not taken for it.
func TestFindsTheOneDifference(t *testing.T) {
	falseAlarms := 0
	for seed := range uint64(8) {
		w := newWorld(t, seed, Options{Noise: true}, differentPrice)
		w.pairs(2000, true)
		w.confirm(seed)
		table := w.tally.Table()
		all := rows(table)
		price := all["$.item.price"]
		if price.Class != Proved && price.Class != Confirmed {
			t.Errorf("seed %d: the price is %+v", seed, price)
		}
		if price.OnlyWhere != "currency=JPY" || price.Differing != 20 || price.Requests != 2000 || price.Kind != compare.Changed || price.Old != "100" || price.New != "110" {
			t.Errorf("seed %d: the price is %+v", seed, price)
		}
		falseAlarms += table.Diffs() - 1
		if table.Unconfirmed() != 0 {
			t.Errorf("seed %d: unconfirmed: %+v", seed, table.Rows)
		}
	}
	if falseAlarms > 1 {
		t.Errorf("%d false alarms in 8 runs", falseAlarms)
	}
}

// TestFindsTheDifferenceWithinNoise has the change in the noisy member itself.
func TestFindsTheDifferenceWithinNoise(t *testing.T) {
	found := 0
	for seed := range uint64(10) {
		w := newWorld(t, seed, Options{Noise: true}, differentStock)
		w.pairs(1000, true)
		w.confirm(seed)
		all := rows(w.tally.Table())
		if all["$.item.stock"].Class.Counts() {
			found++
		}
		if all["$.trace"].Class != Noise {
			t.Errorf("seed %d: the random member is %+v", seed, all["$.trace"])
		}
		if w.asked > 400 {
			t.Errorf("seed %d: %d requests were sent again", seed, w.asked)
		}
	}
	if found < 9 {
		t.Errorf("found in %d of 10 runs", found)
	}
}

func TestNoFalseAlarms(t *testing.T) {
	alarms := 0
	for seed := range uint64(10) {
		w := newWorld(t, 100+seed, Options{Noise: true}, unchanged)
		w.pairs(300, true)
		w.confirm(seed)
		alarms += w.tally.Table().Diffs()
	}
	if alarms > 1 {
		t.Errorf("%d false alarms in 10 runs", alarms)
	}
}

// add counts one pair of JSON bodies; noise is another old body, unless "".
func add(w *world, id int, target, old, new, noise string) {
	of := func(text string) *compare.Response {
		return &compare.Response{Status: 200, Body: []byte(text), Time: time.Unix(1_760_000_000+int64(id), 0)}
	}
	p := Pair{ID: strconv.Itoa(id), Method: []byte("GET"), Target: []byte(target), Old: of(old), New: of(new)}
	p.New.Time = p.New.Time.Add(30 * 24 * time.Hour)
	p.Diff = w.diff.Compare(p.Old, p.New)
	if noise != "" {
		p.Noise = w.noise.Compare(p.Old, of(noise))
	}
	w.tally.Add(&p)
}

func TestClasses(t *testing.T) {
	w := newWorld(t, 1, Options{Noise: true}, nil)
	for i := range 12 {
		rare, flaky, always := 0, 0, i
		if i == 3 {
			rare = 1
		}
		if i == 4 {
			flaky = 1
		}
		add(w, i, fmt.Sprint("/a?n=", i), `{"rare":0,"flaky":0,"always":"x","same":1}`,
			fmt.Sprintf(`{"rare":%d,"flaky":0,"always":"y%d","same":1.0}`, rare, always), fmt.Sprintf(`{"rare":0,"flaky":%d,"always":"x","same":1}`, flaky))
	}
	all := rows(w.tally.Table())
	for field, want := range map[string]Class{"$.rare": Unconfirmed, "$.flaky": Noise, "$.always": Proved, "$.same": ""} {
		if all[field].Class != want {
			t.Errorf("%s is %+v, want %s", field, all[field], want)
		}
	}
	table := w.tally.Table()
	if table.Diffs() != 1 || table.Unconfirmed() != 1 || table.Pairs != 12 || table.Requests != 12 || !table.NoiseMeasured || table.Rows[0].Field != "$.always" {
		t.Errorf("got %+v", table)
	}
	if r := all["$.always"]; r.Share != 1 || r.ShareLow < 0.7 || r.ShareHigh != 1 || r.ID != "0" {
		t.Errorf("got %+v", r)
	}
}

// TestEqualRequestsCountOnce has one request a thousand times: it proves
// nothing, and counts as the majority of its pairs says.
func TestEqualRequestsCountOnce(t *testing.T) {
	w := newWorld(t, 1, Options{Noise: true}, nil)
	for i := range 1000 {
		most, some := 1, 0
		if i%10 == 0 {
			most, some = 0, 1
		}
		add(w, i, "/a", `{"most":0,"some":0}`, fmt.Sprintf(`{"most":%d,"some":%d}`, most, some), `{"most":0,"some":0}`)
	}
	table := w.tally.Table()
	all := rows(table)
	if r := all["$.most"]; r.Class != Unconfirmed || r.Differing != 1 || r.Requests != 1 {
		t.Errorf("got %+v", r)
	}
	if r, ok := all["$.some"]; ok {
		t.Errorf("got %+v", r)
	}
	if table.Pairs != 1000 || table.Requests != 1 {
		t.Errorf("got %+v", table)
	}
}

// TestWithoutNoise compares with a recording: what is made anew each time does
// not drown the one true difference.
func TestWithoutNoise(t *testing.T) {
	w := newWorld(t, 1, Options{}, nil)
	hex := func(side, i int) string {
		return fmt.Sprintf("%08x-0000-4000-8000-%012x", side*7919+i*104729, i*31+side)
	}
	for i := range 100 {
		then, now := time.Unix(1_760_000_000+int64(i), 0).UTC(), time.Unix(1_760_000_000+int64(i)+30*86400, 0).UTC()
		add(w, i, fmt.Sprint("/a?n=", i),
			fmt.Sprintf(`{"uuid":%q,"at":%q,"fixed":%q,"true":1}`, hex(0, i), then.Format(time.RFC3339), hex(0, 1)),
			fmt.Sprintf(`{"uuid":%q,"at":%q,"fixed":%q,"true":%d}`, hex(1, i), now.Format(time.RFC3339), hex(1, 1), 1+i/50), "")
	}
	table := w.tally.Table()
	all := rows(table)
	for field, want := range map[string]Class{"$.uuid": "", "$.at": "", "$.fixed": Differs, "$.true": Differs} {
		if all[field].Class != want {
			t.Errorf("%s is %+v, want %q", field, all[field], want)
		}
	}
	if r := all["$.true"]; r.Differing != 50 || table.NoiseMeasured || table.Diffs() != 2 {
		t.Errorf("got %+v", table)
	}
	few := newWorld(t, 1, Options{}, nil)
	for i := range 19 {
		add(few, i, fmt.Sprint("/a?n=", i), fmt.Sprintf(`{"uuid":%q}`, hex(0, i)), fmt.Sprintf(`{"uuid":%q}`, hex(1, i)), "")
	}
	if r := rows(few.tally.Table())["$.uuid"]; r.Class != Differs {
		t.Errorf("of 19 values the class is %q", r.Class)
	}
}

func TestRequireEqual(t *testing.T) {
	w := newWorld(t, 1, Options{}, nil)
	ok, dropped := &compare.Result{}, &compare.Result{Unequal: true}
	for _, p := range []*Pair{{Diff: ok}, {Diff: dropped}, {Diff: ok, Noise: dropped}} {
		p.Method, p.Target, p.Old, p.New = []byte("GET"), []byte("/"), &compare.Response{}, &compare.Response{}
		w.tally.Add(p)
	}
	if table := w.tally.Table(); table.Pairs != 1 || table.Unequal != 2 {
		t.Errorf("got %+v", table)
	}
	noise := New(Options{Noise: true})
	noise.Add(&Pair{Method: []byte("GET"), Target: []byte("/"), Old: &compare.Response{}, New: &compare.Response{}, Diff: ok})
	if table := noise.Table(); table.Pairs != 0 || table.Partial[NoTwin] != 1 {
		t.Errorf("got %+v", table)
	}
}

// TestLive reads a growing count all the time: it is tested where it has
// doubled only, and noise stays noise.
func TestLive(t *testing.T) {
	alarms, found := make(map[string]bool), 0
	for seed := range uint64(4) {
		w := newWorld(t, seed, Options{Noise: true, Live: true}, differentPrice)
		for i := range 3000 {
			old, new := w.response(oldVersion, i), w.response(newVersion, i)
			w.tally.Add(&Pair{
				Method: []byte("GET"), Target: fmt.Appendf(nil, "/items/%d?currency=%s", i, currency(i)), Old: old, New: new,
				Diff: w.diff.Compare(old, new), Noise: w.noise.Compare(old, w.response(oldVersion, i)),
			})
			if i%500 == 499 {
				for field, r := range rows(w.tally.Table()) {
					if r.Class == Proved && field != "$.item.price" {
						alarms[fmt.Sprint(seed, field)] = true
					}
				}
			}
		}
		if rows(w.tally.Table())["$.item.price"].Class == Proved {
			found++
		}
		if c := w.tally.Confirm(1).Next(); len(c) != 0 {
			t.Errorf("%d requests are asked again", len(c))
		}
	}
	if len(alarms) > 1 || found != 4 {
		t.Errorf("%v false alarms, found in %d of 4 runs", alarms, found)
	}
}

func TestKeysThatVaryLikeValues(t *testing.T) {
	w := newWorld(t, 1, Options{Noise: true}, nil)
	for i := range 500 {
		add(w, i, fmt.Sprint("/a?n=", i), fmt.Sprintf(`{"by":{"user-x%d":{"n":1}}}`, i), fmt.Sprintf(`{"by":{"user-x%d":{"n":2}}}`, i), fmt.Sprintf(`{"by":{"user-x%d":{"n":1}}}`, i))
	}
	table := w.tally.Table()
	all := rows(table)
	r := all["$.by[*].n"]
	if r.Class != Proved || r.Share != 1 || table.LeftOut.Collapsed != maxSiblings || len(all) != 1 {
		t.Errorf("got %+v", table)
	}
}

// TestBounded counts what never ends: every limit holds, and what is left out
// is counted.
func TestBounded(t *testing.T) {
	w := newWorld(t, 1, Options{Noise: true}, nil)
	result := func(i int) *compare.Result {
		return &compare.Result{Differences: []compare.Difference{
			{Field: fmt.Sprintf("header X-%d", i), Kind: compare.Changed, Old: []byte("a"), New: []byte("b")},
			{Field: fmt.Sprintf("$.a.k%dx.b.l%dx.c", i%9973, i), Kind: compare.Changed, Old: []byte("a"), New: []byte("b")},
		}}
	}
	none := &compare.Result{}
	for i := range 30_000 {
		w.tally.Add(&Pair{
			ID: strconv.Itoa(i), Method: []byte("GET"), Target: fmt.Appendf(nil, "/s%dx?v=%d&p%dx=1", i%1000, i, i),
			Header: fmt.Appendf(nil, "X-N%d: %d\r\n", i, i), Old: &compare.Response{}, New: &compare.Response{}, Diff: result(i), Noise: none,
		})
	}
	s := &w.tally.state
	if len(s.Endpoints) > maxEndpoints+1 || w.tally.fields > maxFields || len(w.tally.requests.all) > maxRequests || len(w.tally.requests.index) > maxRequests {
		t.Errorf("%d endpoints, %d fields, %d requests", len(s.Endpoints), w.tally.fields, len(w.tally.requests.all))
	}
	fields := 0
	for _, e := range s.Endpoints {
		fields += len(e.Fields)
		if len(e.Properties.Names) > maxNames || len(e.Properties.Values) > maxNames*maxValues || len(e.children) > maxOwnFields || len(e.alias) > maxAlias {
			t.Errorf("%d names, %d values, %d places, %d aliases", len(e.Properties.Names), len(e.Properties.Values), len(e.children), len(e.alias))
		}
		for _, f := range e.Fields {
			if len(f.Again) > mostAgain || len(f.Where.Values) > (firstSeen+1)*maxNames {
				t.Errorf("%d to ask again, %d values", len(f.Again), len(f.Where.Values))
			}
		}
	}
	table := w.tally.Table()
	if fields != w.tally.fields || table.LeftOut.Endpoints == 0 || table.LeftOut.Differences == 0 || table.Pairs != 30_000 {
		t.Errorf("%d fields, %+v", fields, table.LeftOut)
	}
	written, err := json.Marshal(w.tally)
	if err != nil || len(written) > 8<<20 {
		t.Errorf("%d bytes are written, %v", len(written), err)
	}
}

// TestMerge counts in three shards what one run counts: the tables agree.
func TestMerge(t *testing.T) {
	whole := newWorld(t, 5, Options{Noise: true}, differentPrice)
	whole.pairs(3000, true)
	merged := New(Options{Noise: true})
	var shards [3]*world
	for k := range shards {
		shards[k] = newWorld(t, 5, Options{Noise: true}, nil)
	}
	copied := newWorld(t, 5, Options{Noise: true}, differentPrice)
	for i := range 3000 {
		old, new := copied.response(oldVersion, i), copied.response(newVersion, i)
		p := Pair{
			ID: strconv.Itoa(i), Method: []byte("GET"), Target: fmt.Appendf(nil, "/items/%d?currency=%s&page=%d", i, currency(i), i%7),
			Header: []byte("Accept: */*\r\nUser-Agent: test\r\n"), Old: old, New: new, Diff: copied.diff.Compare(old, new),
		}
		p.Noise = copied.noise.Compare(old, copied.response(oldVersion, i))
		shards[i%3].tally.Add(&p)
	}
	for _, shard := range shards {
		written, err := json.Marshal(shard.tally)
		if err != nil {
			t.Fatal(err)
		}
		read := New(Options{Noise: true})
		if err := json.Unmarshal(written, read); err != nil {
			t.Fatal(err)
		}
		merged.Merge(read)
	}
	want, got := whole.tally.Table(), merged.Table()
	if got.Latency != want.Latency || got.Pairs != want.Pairs || got.Requests != want.Requests || len(got.Rows) != len(want.Rows) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want.Rows {
		a, b := got.Rows[i], want.Rows[i]
		a.Old, a.New, a.ID, b.Old, b.New, b.ID = "", "", "", "", "", "" // examples are any shard's
		if a != b {
			t.Errorf("got %+v, want %+v", a, b)
		}
	}
	if len(merged.state.Endpoints["GET /items/*"].Fields["$.item.price"].Again) != 30 {
		t.Error("requests to ask again are lost")
	}
	for _, bad := range []string{`{`, `{"endpoints":{"a":null}}`, `{"endpoints":{"a":{"fields":{"x":null},"properties":{"values":{},"names":{}}}}}`, `{"latency":{"old":"x"}}`} {
		if err := json.Unmarshal([]byte(bad), New(Options{Noise: true})); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestLatency(t *testing.T) {
	w := New(Options{})
	pair := func(i int) {
		old := time.Duration(1000+i%100) * time.Microsecond
		w.Add(&Pair{
			Method: []byte("GET"), Target: []byte("/"), Diff: &compare.Result{},
			Old: &compare.Response{Duration: old}, New: &compare.Response{Duration: old + time.Duration(i%11-3)*time.Microsecond},
		})
	}
	for i := range 399 {
		pair(i)
	}
	if _, _, ok := w.Bounds(99); ok {
		t.Error("the p99 of 399 is known")
	}
	for i := range 1001 {
		pair(i)
	}
	low, high, ok := w.Bounds(99)
	if !ok || low > 1107*time.Microsecond || low < 1095*time.Microsecond || high < 1097*time.Microsecond || high > 1100*time.Microsecond {
		t.Errorf("bounds %s and %s, %v", low, high, ok)
	}
	s := w.Table().Latency
	if s.Pairs != 1400 || s.Median != 2*time.Microsecond || s.Low > s.Median || s.High < s.Median || s.High-s.Low > 2*time.Microsecond {
		t.Errorf("got %+v", s)
	}
}

func TestExplainedByBodyAndStatus(t *testing.T) {
	w := newWorld(t, 1, Options{}, nil)
	for i := range 60 {
		country, value := "DE", 1
		if i%3 == 0 {
			country, value = "JP", 2
		}
		old, new := &compare.Response{Status: 200, Body: []byte(`{"v":1}`)}, &compare.Response{Status: 200, Body: fmt.Appendf(nil, `{"v":%d}`, value)}
		w.tally.Add(&Pair{
			ID: "x", Method: []byte("POST"), Target: []byte("/order"), Body: fmt.Appendf(nil, `{"n":%d,"to":{"country":%q},"list":[1]}`, i, country),
			Header: fmt.Appendf(nil, "Authorization: %s\r\n", strings.Repeat("J", i%3)), Old: old, New: new, Diff: w.diff.Compare(old, new),
		})
	}
	if r := rows(w.tally.Table())["$.v"]; r.OnlyWhere != "$.to.country=JP" || r.Differing != 20 {
		t.Errorf("got %+v", r)
	}
}

func BenchmarkAdd(b *testing.B) {
	w := New(Options{})
	diff := &compare.Result{Differences: []compare.Difference{{Field: "$.took_ms", Kind: compare.Changed, Old: []byte("1"), New: []byte("2")}}}
	p := &Pair{ID: "x", Method: []byte("GET"), Header: []byte("Accept: */*\r\nUser-Agent: x\r\n"), Old: &compare.Response{Duration: 1e6}, New: &compare.Response{Duration: 2e6}, Diff: diff, Noise: diff}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Target = fmt.Appendf(p.Target[:0], "/items/%d?a=%d", i, i%3)
		w.Add(p)
	}
}

// TestReadDamaged reads counts of which every part that can be null is so in
// turn: it is refused or can be counted on, merged and shown.
func TestReadDamaged(t *testing.T) {
	const whole = `{"pairs":1,"partial":{"shed":1},"endpoints":{"GET /":{"requests":9,"pairs":9,"fields":{"$.a":{"a":3,"b":3,"kinds":{"changed":3},` +
		`"generated":{"old":{"1":true},"new":{"2":true}},"again":[{"hash":1,"id":"x"}],"asked":{"x":{"rounds":16,"new":16}},` +
		`"where":{"alone":[2,1],"sampled":[2,1],"values":{"q=1":{"alone":[2,1]}}}}},` +
		`"collapsed":{"$.b":1},"properties":{"requests":[5,4],"values":{"q=1":[2,1]},"names":{"q":1}}}}}`
	refused := 0
	for at := range len(whole) {
		if whole[at] != '{' && whole[at] != '[' {
			continue
		}
		rest := json.NewDecoder(strings.NewReader(whole[at:]))
		var part json.RawMessage
		if err := rest.Decode(&part); err != nil {
			t.Fatal(err)
		}
		damaged := whole[:at] + "null" + whole[at+len(part):]
		read := New(Options{Noise: true})
		if err := read.UnmarshalJSON([]byte(damaged)); err != nil {
			refused++
			continue
		}
		read.Skip("late")
		merged := New(Options{Noise: true})
		if err := merged.UnmarshalJSON([]byte(whole)); err != nil {
			t.Fatal(err)
		}
		merged.Merge(read)
		merged.Table()
		other := New(Options{Noise: true})
		if err := other.UnmarshalJSON([]byte(whole)); err != nil {
			t.Fatal(err)
		}
		read.Merge(other)
		read.Add(&Pair{
			ID: "y", Method: []byte("GET"), Target: []byte("/?q=1"), Old: &compare.Response{Status: 200}, New: &compare.Response{Status: 200},
			Diff: &compare.Result{Differences: []compare.Difference{{Field: "$.a", Kind: compare.Changed}}}, Noise: &compare.Result{},
		})
		read.Table()
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}
