// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// smallDisk is a disk with room for so many bytes.
type smallDisk struct{ room atomic.Int64 }

// create makes files on the disk.
func (d *smallDisk) create(o *Options, now time.Time) (*output, error) {
	out, err := create(o, now)
	if err == nil {
		out.file = &smallFile{File: out.file.(*os.File), disk: d}
	}
	return out, err
}

type smallFile struct {
	*os.File
	disk *smallDisk
	size int64
}

func (f *smallFile) Write(p []byte) (int, error) {
	fits := p[:min(int64(len(p)), f.disk.room.Load())]
	n, err := f.File.Write(fits)
	f.size += int64(n)
	f.disk.room.Add(-int64(n))
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f *smallFile) Truncate(size int64) error {
	f.disk.room.Add(f.size - size)
	f.size = size
	return f.File.Truncate(size)
}

func TestFullDisk(t *testing.T) {
	for _, compression := range []Compression{{}, {none: true}} {
		t.Run(compression.String(), func(t *testing.T) {
			var disk smallDisk
			disk.room.Store(1 << 20)
			o := testOptions(t.TempDir())
			o.Compression = compression
			w := newWitness()
			r := New(o, w)
			r.create = disk.create
			want := make(map[string]string)
			send := func(id string) {
				body := noise(10_000)
				want[id] = hashOf(body)
				addText(t, r, id, body)
			}
			for i := range 300 {
				send(fmt.Sprint("early-", i))
			}
			eventually(t, "all early records written or given up", func() bool { return w.recordedSoFar()+w.droppedFor(NotWritten) == 300 })
			lost := w.droppedFor(NotWritten)
			if lost < 150 || lost > 250 || w.failures(WriteFile) == 0 {
				t.Errorf("1 MiB of 3 fits, yet %d of 300 records are lost by %d failures", lost, w.failures(WriteFile))
			}
			disk.room.Store(1 << 20)
			for i := range 10 {
				send(fmt.Sprint("late-", i))
			}
			r.Close()
			got := bodies(t, o.Dir)
			if len(got) != 310-lost {
				t.Errorf("got %d records, want %d", len(got), 310-lost)
			}
			for id := range got {
				if got[id] != want[id] {
					t.Errorf("the body of %s differs", id)
				}
			}
			for i := range 10 {
				if got[fmt.Sprint("late-", i)] == "" {
					t.Errorf("late-%d is not recorded", i)
				}
			}
		})
	}
}

func TestFailureIsReportedOnceAMinute(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(dir)
		o.Memory = 1 << 20
		w := newWitness()
		r := New(o, w)
		broken := errors.New("no such luck")
		r.create = func(*Options, time.Time) (*output, error) { return nil, broken }
		for i := range 150 { // seconds
			addText(t, r, fmt.Sprint(i), "x")
			time.Sleep(time.Second)
		}
		r.Close()
		synctest.Wait()
		lost := 0
		reports := w.reported()
		for _, report := range reports {
			lost += report.Lost
			if report.Operation != CreateFile || !errors.Is(report.Err, broken) || report.Times != report.Lost {
				t.Errorf("got report %+v", report)
			}
		}
		if len(reports) != 4 || lost != 150 || w.failures(CreateFile) != 150 { // the first, two minutes, the end
			t.Errorf("got %d reports of %d records in 150 seconds, and %d failures", len(reports), lost, w.failures(CreateFile))
		}
	})
}

func TestFileMovedAway(t *testing.T) {
	o := testOptions(t.TempDir())
	o.FlushEvery = Duration(10 * time.Millisecond)
	w := newWitness()
	r := New(o, w)
	addText(t, r, "1", "x")
	eventually(t, "first record on disk", func() bool { return w.recordedSoFar() == 1 })
	moved := filepath.Join(t.TempDir(), "moved.fbf.lz4")
	if err := os.Rename(filepath.Join(o.Dir, filesIn(t, o.Dir)[0]), moved); err != nil {
		t.Fatal(err)
	}
	addText(t, r, "2", "x")
	r.Close()
	if got := bodies(t, o.Dir); len(got) != 1 || got["2"] == "" || w.failures(LostFile) != 1 {
		t.Errorf("got %v at the old place and %d failures", got, w.failures(LostFile))
	}
	if ids := readFile(t, moved, make(map[string]string)); len(ids) != 1 {
		t.Errorf("got %q in the moved file", ids)
	}
}

func TestDirectoryDeleted(t *testing.T) {
	o := testOptions(filepath.Join(t.TempDir(), "recordings"))
	o.FlushEvery = Duration(10 * time.Millisecond)
	w := newWitness()
	r := New(o, w)
	addText(t, r, "1", "x")
	eventually(t, "first record on disk", func() bool { return w.recordedSoFar() == 1 })
	if err := os.RemoveAll(o.Dir); err != nil {
		t.Fatal(err)
	}
	addText(t, r, "2", "x")
	eventually(t, "second record on disk", func() bool { return w.recordedSoFar() == 2 })
	if err := os.RemoveAll(o.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Dir, nil, 0o600); err != nil { // no directory can be made here
		t.Fatal(err)
	}
	addText(t, r, "3", "x")
	eventually(t, "third record given up", func() bool { return w.droppedFor(NotWritten) == 1 })
	if err := os.Remove(o.Dir); err != nil {
		t.Fatal(err)
	}
	addText(t, r, "4", "x")
	r.Close()
	if got := bodies(t, o.Dir); len(got) != 1 || got["4"] == "" {
		t.Errorf("got %v", got)
	}
}

func TestRotationGoesOnInTheOldFileWhileNoneCanBeMade(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RotateSize = 20_000
	w := newWitness()
	r := New(o, w)
	var failing atomic.Bool
	r.create = func(o *Options, now time.Time) (*output, error) {
		if failing.Load() {
			return nil, syscall.EROFS
		}
		return create(o, now)
	}
	addText(t, r, "1", noise(15_000))
	eventually(t, "first record on disk", func() bool { return w.recordedSoFar() == 1 })
	failing.Store(true)
	addText(t, r, "2", noise(15_000))
	eventually(t, "second record on disk", func() bool { return w.recordedSoFar() == 2 })
	failing.Store(false)
	addText(t, r, "3", noise(15_000))
	r.Close()
	if got, names := bodies(t, o.Dir), filesIn(t, o.Dir); len(got) != 3 || len(names) != 2 || w.failures(CreateFile) != 1 {
		t.Errorf("got %d records in %q, %d failures", len(got), names, w.failures(CreateFile))
	}
}

func TestFileThatCannotBeRenamedIsFinishedLater(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(dir)
		w := newWitness()
		r := New(o, w)
		addText(t, r, "1", "x")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		open := filesIn(t, dir)[0]
		whole := filepath.Join(dir, strings.TrimSuffix(open, openExtension))
		if err := os.MkdirAll(filepath.Join(whole, "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if w.failures(FinishFile) != 1 || w.failures(AdoptFile) == 0 {
			t.Errorf("got %d failures to finish, %d to adopt", w.failures(FinishFile), w.failures(AdoptFile))
		}
		if err := os.RemoveAll(whole); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := bodies(t, dir); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		r.Close()
	})
}

func TestPanicOfTheWriterEndsNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWitness()
		r := New(testOptions(dir), w)
		first := true
		r.create = func(o *Options, now time.Time) (*output, error) {
			if first {
				first = false
				panic("once")
			}
			return create(o, now)
		}
		addText(t, r, "1", "x")
		time.Sleep(5 * time.Second)
		addText(t, r, "2", "x")
		r.Close()
		if got := bodies(t, dir); len(got) != 1 || got["2"] == "" || r.Waiting() != 0 || w.droppedFor(NotWritten) != 1 {
			t.Errorf("got %v, %d bytes waiting, %d records lost", got, r.Waiting(), w.droppedFor(NotWritten))
		}
	})
}

// panickyFile panics when its second block is written, halfway.
type panickyFile struct {
	*os.File
	writes int
}

func (f *panickyFile) Write(p []byte) (int, error) {
	if f.writes++; f.writes == 3 {
		_, _ = f.File.Write(p[:len(p)/2])
		panic("halfway")
	}
	return f.File.Write(p)
}

// TestFileInWhichTheWriterPanicsIsRepaired holds that such a file is let go,
// and finished like what a crash leaves.
func TestFileInWhichTheWriterPanicsIsRepaired(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWitness()
		r := New(testOptions(dir), w)
		r.create = func(o *Options, now time.Time) (*output, error) {
			out, err := create(o, now)
			if err == nil && len(filesIn(t, dir)) == 1 {
				out.file = &panickyFile{File: out.file.(*os.File)}
			}
			return out, err
		}
		for i := range 4 {
			addText(t, r, fmt.Sprint(i), noise(1000))
			time.Sleep(2 * time.Second)
		}
		time.Sleep(tidyEvery)
		synctest.Wait()
		r.Close()
		if got := bodies(t, dir); len(got) != 3 || got["1"] != "" || r.Waiting() != 0 || r.queue.unwritten.Load() != 0 {
			t.Errorf("got %v, %d bytes waiting", got, r.Waiting())
		}
		if len(w.adoptedSoFar()) != 1 || w.droppedFor(NotWritten) != 1 || w.failures(WriteFile) != 1 {
			t.Errorf("adopted %v, lost %d, %d failures", w.adoptedSoFar(), w.droppedFor(NotWritten), w.failures(WriteFile))
		}
	})
}

// panickyObserver panics when it first hears of a file left behind.
type panickyObserver struct {
	*witness
	once sync.Once
}

func (o *panickyObserver) Adopted(path string, lost int64) {
	o.once.Do(func() { panic("once") })
	o.witness.Adopted(path, lost)
}

func TestPanicBetweenWritesLeavesNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	left, _ := recordingOf(t, Compression{})
	synctest.Test(t, func(t *testing.T) {
		w := newWitness()
		r := New(testOptions(dir), &panickyObserver{witness: w})
		addText(t, r, "early", "x")
		time.Sleep(2 * time.Second)
		if err := os.WriteFile(filepath.Join(dir, leftBehind+".fbf.lz4"+openExtension), left, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * tidyEvery)
		addText(t, r, "late", "x")
		r.Close()
		if got := bodies(t, dir); len(got) != 8 || len(w.adoptedSoFar()) != 1 || w.failures(WriteFile) != 1 {
			t.Errorf("got %v, adopted %v, %d failures", got, w.adoptedSoFar(), w.failures(WriteFile))
		}
	})
}
