// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDraftsOutliveClose(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := New(testOptions(dir), newWitness())
		addText(t, r, "before", "x")
		d := r.Begin()
		d.ID = d.Text("during")
		r.Close()
		if got := bodies(t, dir); len(got) != 1 {
			t.Errorf("got %v with a draft in use", got)
		}
		time.Sleep(time.Minute)
		if !r.Running() {
			t.Error("the recorder ended before the draft")
		}
		if err := d.ReadBody(context.Background(), strings.NewReader("x")); err != nil {
			t.Error(err)
		}
		d.Add(context.Background())
		d.Release()
		for _, late := range []string{"", "after", "again"} {
			if late != "" {
				addText(t, r, late, "x")
			}
			time.Sleep(2 * endEvery)
			synctest.Wait()
			if r.Running() || r.Waiting() != 0 {
				t.Errorf("running %v, %d bytes waiting, after the last draft", r.Running(), r.Waiting())
			}
		}
		if got := bodies(t, dir); len(got) != 4 || got["during"] == "" || got["after"] == "" || got["again"] == "" {
			t.Errorf("got %v", got)
		}
	})
}

// TestLateRecordsGetAFileTogether has many records come to a closed recorder:
// with a file for each, keep would soon delete all the older ones.
func TestLateRecordsGetAFileTogether(t *testing.T) {
	for name, most := range map[string]int{"one after the other": 4, "while another draft is in use": 2} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r := New(testOptions(dir), newWitness())
			addText(t, r, "early", "x")
			release := func() {}
			if most == 2 {
				release = r.Begin().Release
			}
			r.Close()
			for i := range 200 {
				addText(t, r, fmt.Sprint("late-", i), "x")
				time.Sleep(10 * time.Millisecond)
			}
			release()
			time.Sleep(2 * endEvery)
			synctest.Wait()
			if got, names := bodies(t, dir), filesIn(t, dir); len(got) != 201 || len(names) > most {
				t.Errorf("%s: got %d records in %d files, want 201 in %d", name, len(got), len(names), most)
			}
		})
	}
}

// TestCloseWaitsForTheEnd closes a recorder again, and adds to it, while it
// writes what was added last.
func TestCloseWaitsForTheEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		disk := newStuckDisk()
		r := New(testOptions(dir), newWitness())
		r.options.FlushEvery = Duration(time.Hour)
		r.create = disk.create
		d := r.Begin()
		d.ID = d.Text("last")
		r.Close()
		d.Add(context.Background())
		d.Release()
		time.Sleep(2 * endEvery)
		synctest.Wait()
		if r.running.Load() || !r.Running() {
			t.Fatal("the recorder is not about to end")
		}
		closed := make(chan struct{})
		go func() {
			r.Close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close did not wait")
		default:
		}
		addText(t, r, "later", "x")
		disk.release()
		<-closed
		if names := filesIn(t, dir); len(names) == 0 || strings.HasSuffix(names[0], openExtension) {
			t.Errorf("got %q when Close returned", names)
		}
		r.Close()
		if got := bodies(t, dir); len(got) != 2 {
			t.Errorf("got %v", got)
		}
	})
}

// TestCloseUnderLoad closes recorders while others add, as reloads do.
func TestCloseUnderLoad(t *testing.T) {
	o := testOptions(t.TempDir())
	const senders, records = 8, 300
	w := newWitness()
	current := New(o, w)
	var mu sync.RWMutex
	var group sync.WaitGroup
	for sender := range senders {
		group.Go(func() {
			for i := range records {
				mu.RLock()
				r := current
				mu.RUnlock()
				runtime.Gosched() // r may be closed here
				addText(t, r, fmt.Sprintf("%d-%d", sender, i), noise(300))
			}
		})
	}
	for range 20 {
		time.Sleep(time.Millisecond)
		mu.Lock()
		old := current
		current = New(o, w)
		mu.Unlock()
		old.Close()
	}
	group.Wait()
	current.Close()
	eventually(t, "all is on disk", func() bool {
		return w.recordedSoFar() == senders*records && !strings.Contains(strings.Join(filesIn(t, o.Dir), " "), openExtension)
	})
	if got := bodies(t, o.Dir); len(got) != senders*records {
		t.Errorf("got %d records, want %d", len(got), senders*records)
	}
}

func TestGoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 30 {
		r := New(testOptions(t.TempDir()), newWitness())
		addText(t, r, "1", "x")
		r.Close()
		r.Close()
	}
	eventually(t, "as few goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}

func TestCloseDoesNotWaitForeverForADisk(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		disk := newStuckDisk()
		r := New(testOptions(dir), newWitness())
		r.create = disk.create
		addText(t, r, "1", noise(300_000))
		synctest.Wait()
		started := time.Now()
		r.Close()
		if waited := time.Since(started); waited != closePatience {
			t.Errorf("gave up after %s", waited)
		}
		disk.release()
		time.Sleep(2 * endEvery)
		synctest.Wait()
		if got := bodies(t, dir); len(got) != 1 || r.Running() {
			t.Errorf("got %v, running %v, when the disk had taken it", got, r.Running())
		}
	})
}
