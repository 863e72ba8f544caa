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
	"sync/atomic"
	"testing"
	"testing/synctest"
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
	if waiting := r.Waiting(); waiting > int64(o.Memory) {
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
	o.OnOverflow = Drop
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
	for _, overflow := range []Overflow{Block, Drop} {
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

// slowDisk takes its time for every write, and looks at the queue meanwhile.
type slowDisk struct {
	recorder *Recorder
	held     atomic.Int64 // the most memory that batches in the queue had
}

func (d *slowDisk) create(o *Options, now time.Time) (*output, error) {
	out, err := create(o, now)
	if err == nil {
		out.file = &slowFile{File: out.file.(*os.File), disk: d}
	}
	return out, err
}

type slowFile struct {
	*os.File
	disk *slowDisk
}

func (f *slowFile) Write(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	var held int64
	queue := f.disk.recorder.queue
	queue.mu.Lock()
	for _, b := range queue.batches {
		held += int64(cap(b.records))
	}
	queue.mu.Unlock()
	f.disk.held.Store(max(held, f.disk.held.Load()))
	return f.File.Write(p)
}

// TestMemoryIsWhatBatchesTake has many requests wait for a slow disk: batches
// in the queue may not have much more memory than their records.
func TestMemoryIsWhatBatchesTake(t *testing.T) {
	for name, sizes := range map[string][]int{"small": {2000}, "small and large": {2000, 2000, 2000, 2000, 150_000}} {
		o := testOptions(t.TempDir())
		o.Memory = 512 << 10
		o.Compression = Compression{none: true}
		const senders, records = 600, 5
		w := newWitness()
		r := New(o, w)
		disk := &slowDisk{recorder: r}
		r.create = disk.create
		body := noise(150_000)
		var group sync.WaitGroup
		for sender := range senders {
			group.Go(func() {
				for i := range records {
					addText(t, r, fmt.Sprintf("%d-%d", sender, i), body[:sizes[(sender+i)%len(sizes)]])
				}
			})
		}
		group.Wait()
		r.Close()
		if held := disk.held.Load(); held > 3*int64(o.Memory) {
			t.Errorf("%s: batches in the queue took %d bytes, with a memory of %d", name, held, o.Memory)
		}
		if w.recordedSoFar() != senders*records || r.Waiting() != 0 || r.queue.unwritten.Load() != 0 {
			t.Errorf("%s: got %d records, %d bytes waiting", name, w.recordedSoFar(), r.Waiting())
		}
	}
}

// TestCompleteRecordsWaitForNoUpload fills memory with uploads that do not get
// on, and has requests come meanwhile that are complete.
func TestCompleteRecordsWaitForNoUpload(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(dir)
		o.Memory = 1 << 20
		o.FlushEvery = Duration(10 * time.Hour)
		w := newWitness()
		r := New(o, w)
		var uploads []*Draft
		for i := range 2 { // one has all the memory, the other goes beyond it
			d := r.Begin()
			d.ID = d.Text(fmt.Sprint("upload-", i))
			if err := d.ReadBody(context.Background(), &endless{900_000}); err != nil {
				t.Error(err)
			}
			uploads = append(uploads, d)
		}
		var others sync.WaitGroup
		others.Go(func() { addText(t, r, "upload-2", noise(900_000)) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		for i := range 50 {
			others.Go(func() {
				if err := add(ctx, r, fmt.Sprint(i), strings.NewReader("x")); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := w.recordedSoFar(); got != 50 || r.budget.waiters.Load() != 1 {
			t.Errorf("got %d records while uploads have all the memory, %d requests waiting", got, r.budget.waiters.Load())
		}
		for _, d := range uploads {
			d.Add(context.Background())
			d.Release()
		}
		others.Wait()
		r.Close()
		if got := bodies(t, dir); len(got) != 53 || r.Waiting() != 0 {
			t.Errorf("got %d records, %d bytes waiting", len(got), r.Waiting())
		}
	})
}

// then is a body of nothing, before whose end something happens.
type then func()

func (f then) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// TestBodyBeyondMemoryGoesOnToItsEnd has a small record wait for the disk while
// the body that goes beyond the limit is coming.
func TestBodyBeyondMemoryGoesOnToItsEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(dir)
		o.Memory = 100_000
		disk := newStuckDisk()
		w := newWitness()
		r := New(o, w)
		r.create = disk.create
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		small := then(func() { addText(t, r, "small", "x") })
		if err := add(ctx, r, "large", io.MultiReader(&endless{200_000}, small, &endless{300_000})); err != nil {
			t.Error(err)
		}
		disk.release()
		r.Close()
		if got := bodies(t, dir); len(got) != 2 || ctx.Err() != nil {
			t.Errorf("got %v, lost %d after a wait", got, w.droppedFor(ClientLeft))
		}
	})
}

func TestLostRecordGivesItsMemoryBackAtOnce(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Memory = 300_000
	o.OnOverflow = Drop
	w := newWitness()
	r := New(o, w)
	other := r.Begin()
	lost := r.Begin()
	err := lost.ReadBody(context.Background(), io.MultiReader(
		&endless{100_000}, // 128 KiB are taken
		then(func() {
			if err := other.ReadBody(context.Background(), &endless{200_000}); err != nil { // goes beyond the limit
				t.Error(err)
			}
		}),
		&endless{100_000}, // no more can be taken
		then(func() {
			if waiting := r.Waiting(); waiting != 256<<10 || w.droppedFor(MemoryFull) != 1 || cap(lost.Body) > 0 {
				t.Errorf("while the body goes on %d bytes of memory are taken, %d records lost, %d bytes kept", waiting, w.droppedFor(MemoryFull), cap(lost.Body))
			}
		}),
		&endless{100_000},
	))
	if err != nil || lost.BodySize != 300_000 {
		t.Errorf("%d bytes were read, error %v", lost.BodySize, err)
	}
	lost.Add(context.Background())
	lost.Release()
	other.Release()
	if r.Waiting() != 0 || r.budget.borrower != nil || w.droppedFor(MemoryFull) != 1 {
		t.Errorf("%d bytes of memory are taken in the end, %d records lost", r.Waiting(), w.droppedFor(MemoryFull))
	}
	r.Close()
}

// TestWhatDoesNotFitTakesNothing holds that memory is never seen fuller than it is.
func TestWhatDoesNotFitTakesNothing(t *testing.T) {
	b := newBudget(10, true, nil)
	var done atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !done.Load() {
			if b.fits(11) {
				t.Error("11 bytes fit into 10")
			}
		}
	})
	for i := range 1_000_000 {
		if !b.fits(5) {
			t.Errorf("5 bytes did not fit into 10 at try %d", i)
			break
		}
		b.release(5)
	}
	done.Store(true)
	other.Wait()
}
