// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// testOptions are the defaults of the record option.
func testOptions(dir string) Options {
	return Options{Dir: dir}.WithDefaults()
}

// witness is an observer that remembers.
type witness struct {
	mu        sync.Mutex
	recorded  int
	raw, disk int64
	dropped   map[Reason]int
	failed    map[Operation]int
	finished  []string
	adopted   map[string]int64
	deleted   map[string]string
	reports   []Trouble
}

func newWitness() *witness {
	return &witness{dropped: make(map[Reason]int), failed: make(map[Operation]int), adopted: make(map[string]int64), deleted: make(map[string]string)}
}

func (w *witness) note(what func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what()
}

func (w *witness) Recorded(records int, raw, disk int64) {
	w.note(func() { w.recorded += records; w.raw += raw; w.disk += disk })
}
func (w *witness) Dropped(r Reason, records int) { w.note(func() { w.dropped[r] += records }) }
func (w *witness) Failed(o Operation)            { w.note(func() { w.failed[o]++ }) }
func (w *witness) Finished(path string, _ int64) {
	w.note(func() { w.finished = append(w.finished, path) })
}
func (w *witness) Adopted(path string, lost int64) { w.note(func() { w.adopted[path] = lost }) }
func (w *witness) Deleted(path string, _ int64, why string) {
	w.note(func() { w.deleted[path] = why })
}

func (w *witness) Report(t Trouble)             { w.note(func() { w.reports = append(w.reports, t) }) }
func (w *witness) droppedFor(r Reason) (n int)  { w.note(func() { n = w.dropped[r] }); return n }
func (w *witness) failures(o Operation) (n int) { w.note(func() { n = w.failed[o] }); return n }
func (w *witness) recordedSoFar() (n int)       { w.note(func() { n = w.recorded }); return n }
func (w *witness) adoptedSoFar() (m map[string]int64) {
	w.note(func() { m = maps.Clone(w.adopted) })
	return m
}

func (w *witness) reported() (all []Trouble) {
	w.note(func() { all = slices.Clone(w.reports) })
	return all
}

// add records a request as a handler does.
func add(ctx context.Context, r *Recorder, id string, body io.Reader) error {
	d := r.Begin()
	defer d.Release()
	d.ID = d.Text(id)
	d.Method = d.Text("POST")
	d.URI = d.Text("/orders?id=" + id)
	d.AddField("Host", "shop.test")
	err := d.ReadBody(ctx, body)
	if err != nil {
		d.BrokeOff(err)
	}
	d.Add(ctx)
	return err
}

// addText records a request with a body, which must be readable.
func addText(t testing.TB, r *Recorder, id, body string) {
	t.Helper()
	if err := add(context.Background(), r, id, strings.NewReader(body)); err != nil {
		t.Error(err)
	}
}

// noise returns an incompressible body.
func noise(size int) string {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], rand.Uint64())
	body := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(body) // never fails
	return string(body)
}

// filesIn returns the names in the directory; it may not exist.
func filesIn(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// sizeOf returns the size of a file in the directory.
func sizeOf(t testing.TB, dir, name string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// bodies reads every file of the directory, which must all be whole, and
// gives the hash of each body by the ID of its record.
func bodies(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, name := range filesIn(t, dir) {
		if strings.HasSuffix(name, openExtension) {
			t.Errorf("%s is not finished", name)
		}
		for _, id := range readFile(t, filepath.Join(dir, name), all) {
			if id == "" {
				t.Errorf("%s has a record without ID", name)
			}
		}
	}
	return all
}

// readFile adds the bodies of a file to all and gives the IDs in their order.
func readFile(t testing.TB, path string, all map[string]string) []string {
	t.Helper()
	f, err := recording.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ids []string
	for {
		request, err := f.Next()
		if err == io.EOF {
			return ids
		}
		if err != nil {
			t.Fatalf("reading %s: %v", path, err)
		}
		id := string(request.ID)
		if all[id] != "" {
			t.Errorf("%s is recorded twice", id)
		}
		all[id] = hashOf(string(request.Body))
		ids = append(ids, id)
	}
}

func hashOf(body string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(body))) }

// eventually waits for something to become true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}
