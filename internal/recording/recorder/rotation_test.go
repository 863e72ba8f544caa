// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRotationBySizeOnDisk holds that a file is never larger than it may be,
// whatever its content compresses to, and not much smaller either.
func TestRotationBySizeOnDisk(t *testing.T) {
	const limit, records = 50_000, 400
	for name, body := range map[string]func(i int) string{
		"incompressible":  func(int) string { return noise(2048) },
		"compressible":    func(i int) string { return strings.Repeat(fmt.Sprintf("order %d ", i), 600) },
		"large and small": func(i int) string { return noise(50 + i%3*7_000) },
	} {
		for _, compression := range []Compression{{}, {none: true}} {
			t.Run(name+" "+compression.String(), func(t *testing.T) {
				o := testOptions(t.TempDir())
				o.RotateSize = limit
				o.Compression = compression
				r := New(o, newWitness())
				want := make(map[string]string)
				for i := range records {
					id, text := fmt.Sprint(i), body(i)
					want[id] = hashOf(text)
					addText(t, r, id, text)
				}
				r.Close()
				if got := bodies(t, o.Dir); !maps.Equal(got, want) {
					t.Errorf("got %d records, want %d with the same bodies", len(got), len(want))
				}
				names := filesIn(t, o.Dir)
				if len(names) < 2 {
					t.Fatalf("got files %q", names)
				}
				for i, name := range names {
					size := sizeOf(t, o.Dir, name)
					if size > limit || size < limit/2 && i < len(names)-1 {
						t.Errorf("%s has %d bytes, with a rotate_size of %d", name, size, limit)
					}
				}
			})
		}
	}
}

func TestRecordLargerThanAFileGetsItsOwn(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RotateSize = 1000
	r := New(o, newWitness())
	for i := range 3 {
		addText(t, r, fmt.Sprint("large-", i), noise(5000))
		addText(t, r, fmt.Sprint("small-", i), "x")
	}
	r.Close()
	for _, name := range filesIn(t, o.Dir) {
		ids := readFile(t, filepath.Join(o.Dir, name), make(map[string]string))
		if sizeOf(t, o.Dir, name) > int64(o.RotateSize) && len(ids) > 1 {
			t.Errorf("%s has %q", name, ids)
		}
	}
}

func TestHundredRotationsAtOnceGiveAHundredNames(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RotateSize = 1
	w := newWitness()
	r := New(o, w)
	for i := range 100 {
		addText(t, r, fmt.Sprint(i), "x")
	}
	r.Close()
	if got, names := bodies(t, o.Dir), filesIn(t, o.Dir); len(got) != 100 || len(names) != 100 || len(w.finished) != 100 {
		t.Errorf("got %d records in %d files, of which %d were told", len(got), len(names), len(w.finished))
	}
}

func TestRotationByAge(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(dir)
		r := New(o, newWitness())
		addText(t, r, "1", "x")
		time.Sleep(9*time.Minute + 50*time.Second)
		addText(t, r, "2", "x")
		synctest.Wait()
		if names := filesIn(t, dir); len(names) != 1 || !strings.HasSuffix(names[0], openExtension) {
			t.Errorf("got %q before the time", names)
		}
		time.Sleep(20 * time.Second) // without any request
		synctest.Wait()
		if got := bodies(t, dir); len(got) != 2 {
			t.Errorf("got %d records when the time had come", len(got))
		}
		addText(t, r, "3", "x")
		r.Close()
		if names := filesIn(t, dir); len(names) != 2 || len(bodies(t, dir)) != 3 {
			t.Errorf("got %q after one more", names)
		}
	})
}

func TestARecordIsOnDiskWhenTheTimeToFlushHasPassed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(dir)
		o.FlushEvery = Duration(3 * time.Second)
		w := newWitness()
		r := New(o, w)
		for i := range 5 {
			addText(t, r, fmt.Sprint(i), "x")
			if lag := r.Lag(); lag != 0 {
				t.Errorf("got a lag of %s at once", lag)
			}
			time.Sleep(time.Duration(o.FlushEvery))
			synctest.Wait()
			if w.recordedSoFar() != i+1 || r.Lag() != 0 || r.Waiting() != 0 {
				t.Errorf("got %d records on disk after %d times, a lag of %s and %d bytes waiting", w.recordedSoFar(), i+1, r.Lag(), r.Waiting())
			}
			open := filepath.Join(dir, filesIn(t, dir)[0])
			if ids := readFile(t, open, make(map[string]string)); len(ids) != i+1 {
				t.Errorf("got %q in the file that is being written", ids)
			}
		}
		r.Close()
	})
}

func TestRetention(t *testing.T) {
	now := time.Now()
	names := []string{ // the newest last
		"requests_20261101T000000Z_000001-0000000a.fbf.lz4",
		"requests_20261102T000000Z_000001-0000000b.fbf",
		"requests_20261103T000000Z_000001-0000000c.fbf.lz4",
		"requests_20261104T000000Z_000001-0000000d.fbf.lz4",
	}
	others := []string{
		"notes.txt", "requests_.fbf.lz4", "other_20261101T000000Z_000001-0000000a.fbf.lz4", "requests_20261101T000000Z_000001-0000000a.har",
		"requests_20201130T143500Z_my-own-copy.fbf.lz4", "requests_20261101T000000Z_000001-0000000a-copy.fbf", "requests_20261101T000000Z_000001-0000000A.fbf",
	}
	recording, err := os.ReadFile("../testdata/samples.fbf")
	if err != nil {
		t.Fatal(err)
	}
	recording = recording[:1000] // cut off, and so damaged
	for _, tc := range []struct {
		keep []string
		want int
	}{
		{nil, 4},
		{[]string{"3"}, 3},
		{[]string{"100"}, 4},
		{[]string{"36h"}, 2},
		{[]string{"2d12h"}, 3},
		{[]string{"1h"}, 1},
		{[]string{"2500B"}, 2},
		{[]string{"1GiB"}, 4},
		{[]string{"1"}, 1},
		{[]string{"1B"}, 1},
		{[]string{"3", "36h", "1GiB"}, 2},
		{[]string{"1m"}, 0},
	} {
		t.Run(strings.Join(tc.keep, " "), func(t *testing.T) {
			o := testOptions(t.TempDir())
			for _, text := range tc.keep {
				rule, err := ParseKeep(text)
				if err != nil {
					t.Fatal(err)
				}
				o.Keep = append(o.Keep, rule)
			}
			for i, name := range slices.Concat(names, others) {
				path := filepath.Join(o.Dir, name)
				age := time.Duration(len(names)-1-i)*24*time.Hour + 10*time.Minute
				if err := os.WriteFile(path, recording, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
					t.Fatal(err)
				}
			}
			w := newWitness()
			r := New(o, w)
			r.Start()
			r.Close()
			got := filesIn(t, o.Dir)
			if len(w.deleted) != len(names)-tc.want {
				t.Errorf("%q are said to be deleted", w.deleted)
			}
			want := slices.Concat(names[len(names)-tc.want:], others)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestWhatIsNoRecordingStays gives files of the user names like those of
// recordings.
func TestWhatIsNoRecordingStays(t *testing.T) {
	o := testOptions(t.TempDir())
	o.Keep = []Keep{{files: 1}}
	names := []string{"requests_20201130T143500Z_000001-0000000a.fbf", "requests_20201130T143500Z_000001-0000000b.fbf.lz4", "requests_20201130T143500Z_000001-0000000c.fbf.lz4.tmp"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte("all that I have written in my life"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWitness()
	r := New(o, w)
	for i := range 3 {
		addText(t, r, fmt.Sprint(i), "x")
		r.Close()
	}
	got := filesIn(t, o.Dir)
	if len(got) != len(names)+1 || !slices.Equal(got[:len(names)], names) || len(w.deleted) != 2 {
		t.Errorf("got %q, deleted %q", got, w.deleted)
	}
	if w.failures(AdoptFile) != 3 || w.failures(DeleteFile) != 6 { // once by each of the three that run
		t.Errorf("got %d and %d failures", w.failures(AdoptFile), w.failures(DeleteFile))
	}
}

func TestRetentionWhileRecording(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RotateSize = 1
	o.Keep = []Keep{{files: 5}}
	r := New(o, newWitness())
	for i := range 50 {
		addText(t, r, fmt.Sprint(i), "x")
	}
	r.Close()
	got := bodies(t, o.Dir)
	if len(got) != 5 || got["49"] == "" {
		t.Errorf("got %v", got)
	}
}

// TestOwnNames has a name that looks like one of ours, of a day that there never
// was.
func TestOwnNames(t *testing.T) {
	for name, want := range map[string]bool{
		"requests_20261130T143500Z_000001-0000000a.fbf.lz4": true,
		"requests_20261130T143500Z_000001-0000000a.fbf":     true,
		"requests_20261331T143500Z_000001-0000000a.fbf.lz4": false,
		"requests_20261130T143500Z_my-own-copy.fbf.lz4":     false,
	} {
		if isWhole("requests", name) != want {
			t.Errorf("%s: got %v", name, !want)
		}
	}
}
