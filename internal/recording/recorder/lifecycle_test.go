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
	o := testOptions(t.TempDir())
	r := New(o, newWitness())
	addText(t, r, "before", "x")
	d := r.Begin()
	d.ID = d.Text("during")
	r.Close()
	if got := bodies(t, o.Dir); len(got) != 1 {
		t.Errorf("got %v with a draft in use", got)
	}
	if err := d.ReadBody(context.Background(), strings.NewReader("x")); err != nil {
		t.Error(err)
	}
	d.Add(context.Background())
	d.Release()
	eventually(t, "the goroutine has ended", func() bool { return !r.running.Load() })
	addText(t, r, "after", "x")
	eventually(t, "three records", func() bool {
		names := filesIn(t, o.Dir)
		return len(names) == 3 && !strings.Contains(strings.Join(names, " "), openExtension)
	})
	if got := bodies(t, o.Dir); got["during"] == "" || got["after"] == "" {
		t.Errorf("got %v", got)
	}
	eventually(t, "the goroutine has ended", func() bool { return !r.running.Load() })
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
	})
}
