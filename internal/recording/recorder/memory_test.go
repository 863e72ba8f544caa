// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// stuckDisk takes nothing until it is released.
type stuckDisk struct {
	once     sync.Once
	released chan struct{}
}

func newStuckDisk() *stuckDisk { return &stuckDisk{released: make(chan struct{})} }

func (d *stuckDisk) release() { d.once.Do(func() { close(d.released) }) }

func (d *stuckDisk) create(o *Options, now time.Time) (*output, error) {
	out, err := create(o, now)
	if err == nil {
		out.file = &stuckFile{File: out.file.(*os.File), disk: d}
	}
	return out, err
}

type stuckFile struct {
	*os.File
	disk *stuckDisk
}

func (f *stuckFile) Write(p []byte) (int, error) {
	<-f.disk.released
	return f.File.Write(p)
}

func TestBlockWaitsForTheDiskAndLosesNothing(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Memory = 100_000
	disk := newStuckDisk()
	r := New(o, newWitness())
	r.create = disk.create
	var senders sync.WaitGroup
	for i := range 50 {
		senders.Go(func() { addText(t, r, fmt.Sprint(i), noise(10_000)) })
	}
	eventually(t, "senders wait", func() bool { return r.budget.waiters.Load() > 35 })
	if waiting := r.Waiting(); waiting > o.Memory {
		t.Errorf("%d bytes wait, with a memory of %d", waiting, o.Memory)
	}
	eventually(t, "a lag is told while the disk is stuck", func() bool { return r.Lag() > 0 })
	disk.release()
	senders.Wait()
	r.Close()
	if got := bodies(t, o.Dir); len(got) != 50 || r.Waiting() != 0 {
		t.Errorf("got %d records, %d bytes waiting", len(got), r.Waiting())
	}
}

func TestDropLosesWhatDoesNotFit(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Memory = 100_000
	o.OnOverflow = Overflow{drop: true}
	disk := newStuckDisk()
	w := newWitness()
	r := New(o, w)
	r.create = disk.create
	for i := range 50 { // one after the other: nobody waits
		addText(t, r, fmt.Sprint(i), noise(10_000))
	}
	disk.release()
	r.Close()
	got := bodies(t, o.Dir)
	if dropped := w.droppedFor(MemoryFull); len(got) != 9 || dropped != 41 {
		t.Errorf("got %d records and %d dropped", len(got), dropped)
	}
	reports := w.reported()
	if len(reports) == 0 || reports[0].Operation != TakeMemory || !errors.Is(reports[0].Err, errFull) {
		t.Errorf("got reports %v", reports)
	}
}

func TestWaitingEndsWithTheRequest(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Memory = 20_000
	disk := newStuckDisk()
	w := newWitness()
	r := New(o, w)
	r.create = disk.create
	addText(t, r, "1", noise(15_000))
	ctx, cancel := context.WithCancel(context.Background())
	var sender sync.WaitGroup
	sender.Go(func() {
		if err := add(ctx, r, "2", strings.NewReader(noise(15_000))); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the sender waits", func() bool { return r.budget.waiters.Load() == 1 })
	cancel()
	sender.Wait()
	if w.droppedFor(ClientLeft) != 1 {
		t.Error("the record of the client that left is not counted")
	}
	sender.Go(func() { addText(t, r, "3", noise(15_000)) })
	eventually(t, "the sender waits", func() bool { return r.budget.waiters.Load() == 1 })
	r.StopWaiting()
	sender.Wait()
	if w.droppedFor(StopInHaste) != 1 {
		t.Error("the record that waited at the stop is not counted")
	}
	disk.release()
	r.Close()
	if got := bodies(t, o.Dir); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestRecordLargerThanMemoryPassesAlone(t *testing.T) {
	for _, overflow := range []Overflow{{}, {drop: true}} {
		o := testOptions(t.TempDir())
		o.Memory = 10
		o.OnOverflow = overflow
		w := newWitness()
		r := New(o, w)
		for i := range 5 {
			addText(t, r, fmt.Sprint(i), noise(300_000))
			eventually(t, "record on disk", func() bool { return w.recordedSoFar() == i+1 })
		}
		r.Close()
		if got := bodies(t, o.Dir); len(got) != 5 {
			t.Errorf("%s: got %d records", overflow, len(got))
		}
	}
}

// slowly reads a body in steps, with other goroutines in between.
type slowly struct{ io.Reader }

func (s slowly) Read(p []byte) (int, error) {
	runtime.Gosched()
	return s.Reader.Read(p[:min(len(p), 10_000)])
}

// TestBodiesThatFillMemoryTogetherAllArrive has more in receipt than memory
// holds, of which nothing is complete.
func TestBodiesThatFillMemoryTogetherAllArrive(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Memory = 1 << 20
	r := New(o, newWitness())
	var senders sync.WaitGroup
	for i := range 30 {
		senders.Go(func() {
			if err := add(context.Background(), r, fmt.Sprint(i), slowly{strings.NewReader(noise(700_000))}); err != nil {
				t.Error(err)
			}
		})
	}
	senders.Wait()
	r.Close()
	if got := bodies(t, o.Dir); len(got) != 30 || r.Waiting() != 0 {
		t.Errorf("got %d records, %d bytes waiting", len(got), r.Waiting())
	}
}
