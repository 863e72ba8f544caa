// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestTimelineCountsByWhenThingsHappen(t *testing.T) {
	target := NewCollector(nil)
	s := target.NewBatch()
	const second = time.Second
	s.Add(Sample{Due: second / 2, Started: second / 2, Ended: 3 * second, Status: 503, Class: -1})
	s.Add(Sample{Due: second / 2, Started: 2 * second, Ended: 2*second + 1, Failure: "reset", Busy: true, Class: -1})
	s.Add(Sample{Due: second, Started: 2 * second, Ended: 2*second + 1, Failure: Interrupted, Class: -1})
	s.Add(Sample{Due: second, Started: 3 * second, Ended: 4 * second, Failure: Interrupted, Waited: true, Class: -1})
	target.AddUnsent(4 * second)
	target.AddUnlinked(4*second, -1)
	r, err := New(Facts{}, []Result{{Totals: target.Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Targets[0].Timeline {
		got = append(got, fmt.Sprintf("%d: %d due %d sent %d ok %d errors %d late %d busy %d waiting %d unlinked %v", m.Second, m.Due, m.Sent, m.OK, m.Errors, m.Late, m.LateBusy, m.LateWaiting, m.Unlinked, m.StatusClasses))
	}
	want := []string{
		"0: 2 due 1 sent 0 ok 0 errors 0 late 0 busy 0 waiting 0 unlinked map[]",
		"1: 2 due 0 sent 0 ok 0 errors 0 late 0 busy 0 waiting 0 unlinked map[]",
		"2: 0 due 2 sent 0 ok 1 errors 2 late 1 busy 0 waiting 0 unlinked map[]",
		"3: 0 due 1 sent 1 ok 0 errors 1 late 0 busy 1 waiting 0 unlinked map[5xx:1]",
		"4: 1 due 0 sent 0 ok 0 errors 0 late 0 busy 0 waiting 1 unlinked map[]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if m := r.Targets[0].Timeline[3]; m.P50MS != 2500 || m.MaxMS != 2500 {
		t.Errorf("latency %v, at most %v", m.P50MS, m.MaxMS)
	}
}

// A day has as many moments as ten minutes, and the same sums and latencies as
// one histogram of all.
func TestTimelineOfALongRunIsBounded(t *testing.T) {
	target := NewCollector(nil)
	s := target.NewBatch()
	all := hdrhistogram.New(int64(finest), int64(longest), 2)
	const requests = 24 * 3600
	for i := range requests {
		due := time.Duration(i) * time.Second
		latency := time.Duration(i%977+1) * 137 * time.Microsecond
		all.RecordValue(int64(latency)) //nolint:errcheck // it is within range
		s.Add(Sample{Due: due, Started: due, Ended: due + latency, Status: 200, Class: -1})
	}
	r, err := New(Facts{}, []Result{{Totals: target.Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	back, err := Read(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	a := back.Targets[0]
	if a.TimelineSeconds != 256 || len(a.Timeline) != (requests+255)/256 {
		t.Fatalf("%d moments of %d s", len(a.Timeline), a.TimelineSeconds)
	}
	merged := hdrhistogram.New(int64(finest), int64(longest), 2)
	var due, ok int64
	for i, m := range a.Timeline {
		h, err := hdrhistogram.Decode([]byte(m.Histogram))
		if err != nil {
			t.Fatal(err)
		}
		if m.Second != int64(i)*256 || h.TotalCount() != m.OK {
			t.Fatalf("moment %d begins at %d s, its histogram has %d of %d", i, m.Second, h.TotalCount(), m.OK)
		}
		merged.Merge(h)
		due, ok = due+m.Due, ok+m.OK
	}
	if due != requests || ok != requests || !merged.Equals(all) {
		t.Errorf("%d were due, %d answered", due, ok)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Contains(again, []byte(a.Timeline[0].Histogram)) {
		t.Errorf("what was read is not written again: %v", err)
	}
}
