// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func TestEveryRecordComesBackWhole(t *testing.T) {
	for _, compression := range []string{"lz4", "lz4 9", "none"} {
		t.Run(compression, func(t *testing.T) {
			o := testOptions(filepath.Join(t.TempDir(), "made", "for", "it"))
			o.Compression, _ = ParseCompression(compression)
			w := newWitness()
			r := New(o, w)
			want := make(map[string]string)
			var mu sync.Mutex
			var senders sync.WaitGroup
			for sender := range 10 {
				senders.Go(func() {
					for i := range 20 {
						id := fmt.Sprintf("%d-%d", sender, i)
						body := noise(i*i*i*20+sender) + strings.Repeat("\x00\r\n\r\n\x04\x22\x4d\x18", i)
						addText(t, r, id, body)
						mu.Lock()
						want[id] = hashOf(body)
						mu.Unlock()
					}
				})
			}
			senders.Wait()
			r.Close()
			got := bodies(t, o.Dir)
			for id := range want {
				if got[id] != want[id] {
					t.Errorf("the body of %s differs", id)
				}
			}
			if len(got) != len(want) || w.recorded != len(want) || r.Waiting() != 0 || r.Lag() != 0 {
				t.Errorf("got %d records, %d counted, %d bytes waiting for %s; want %d", len(got), w.recorded, r.Waiting(), r.Lag(), len(want))
			}
			var disk int64
			for _, name := range filesIn(t, o.Dir) {
				disk += sizeOf(t, o.Dir, name)
			}
			if w.disk != disk || w.raw < 1<<20 {
				t.Errorf("counted %d bytes on disk of %d raw, there are %d", w.disk, w.raw, disk)
			}
		})
	}
}

func TestRequestsOneAfterTheOtherKeepTheirOrder(t *testing.T) {
	o := testOptions(t.TempDir())
	r := New(o, newWitness())
	var want []string
	for i := range 150 {
		id := fmt.Sprint(i)
		want = append(want, id)
		addText(t, r, id, noise(i%4*50_000))
	}
	r.Close()
	var got []string
	for _, name := range filesIn(t, o.Dir) {
		got = append(got, readFile(t, filepath.Join(o.Dir, name), make(map[string]string))...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r := New(testOptions(t.TempDir()), newWitness())
	body := noise(2048)
	reader := strings.NewReader(body)
	ctx := context.Background()
	record := func() {
		reader.Reset(body)
		d := r.Begin()
		defer d.Release()
		d.ID = d.NewID()
		d.Method = d.Text("POST")
		d.AddField("Host", "shop.test")
		if err := d.ReadBody(ctx, reader); err != nil {
			t.Error(err)
		}
		d.Add(ctx)
	}
	for range 1000 {
		record()
	}
	// what the writer allocates for a batch counts in, so it is not quite 0
	if n := testing.AllocsPerRun(5000, record); n >= 1 && !raceDetector {
		t.Errorf("got %v allocations for a record, want none", n)
	}
	r.Close()
}

func TestNothingHappensToTheDirectoryBeforeTheStart(t *testing.T) {
	o := testOptions(filepath.Join(t.TempDir(), "later"))
	r := New(o, newWitness())
	r.Close()
	r = New(o, newWitness())
	r.Start()
	r.Close()
	if names := filesIn(t, filepath.Dir(o.Dir)); len(names) != 0 {
		t.Errorf("got %q without a request", names)
	}
}

func TestRedactedValuesAreNotRecorded(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Redact = []string{"authorization", "X-Sum"}
	r := New(o, newWitness())
	d := r.Begin()
	d.ID = d.NewID()
	d.AddField("Authorization", "Bearer secret")
	d.AddField("Authorization-Kind", "open")
	d.AddTrailer("x-sum", "secret")
	d.Add(context.Background())
	d.Release()
	r.Close()
	f, err := recording.OpenFile(filepath.Join(o.Dir, filesIn(t, o.Dir)[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := f.Next()
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Headers) != "Authorization: REDACTED\r\nAuthorization-Kind: open\r\n" || string(got.Trailers) != "x-sum: REDACTED\r\n" || len(got.ID) != 32 {
		t.Errorf("got headers %q, trailers %q, ID %q", got.Headers, got.Trailers, got.ID)
	}
}

// BenchmarkRecord records 2 kB of noise, as many at a time as there are processors
// and fifty times as many, with and without compression.
func BenchmarkRecord(b *testing.B) {
	var bodies [64]string // more than LZ4 looks back
	for i := range bodies {
		bodies[i] = noise(2048)
	}
	for _, compression := range []string{"lz4", "none"} {
		for _, senders := range []int{1, 50} {
			b.Run(fmt.Sprintf("%s/%d", compression, senders), func(b *testing.B) {
				o := testOptions(b.TempDir())
				o.Compression, _ = ParseCompression(compression)
				o.Keep = []Keep{{files: 1}}
				r := New(o, newWitness())
				b.SetBytes(2048)
				b.ReportAllocs()
				b.SetParallelism(senders)
				b.RunParallel(func(p *testing.PB) {
					reader := new(strings.Reader)
					for i := 0; p.Next(); i++ {
						reader.Reset(bodies[i%len(bodies)])
						if err := add(context.Background(), r, "id", reader); err != nil {
							b.Error(err)
						}
					}
				})
				r.Close()
			})
		}
	}
}
