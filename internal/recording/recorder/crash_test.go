// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const leftBehind = "requests_20261101T000000Z_000001-0000000a"

// recordingOf gives the bytes of a file of three frames with two records each,
// and where the frames end.
func recordingOf(t *testing.T, c Compression) (content []byte, ends []int) {
	t.Helper()
	o := testOptions(t.TempDir())
	o.Compression = c
	w := newWitness()
	r := New(o, w)
	for i := range 3 {
		addText(t, r, fmt.Sprint(2*i), noise(500))
		addText(t, r, fmt.Sprint(2*i+1), strings.Repeat("again ", 100))
		r.seal()
		eventually(t, "records on disk", func() bool { return w.recordedSoFar() == 2*i+2 })
		ends = append(ends, int(sizeOf(t, o.Dir, filesIn(t, o.Dir)[0])))
	}
	r.Close()
	content, err := os.ReadFile(filepath.Join(o.Dir, filesIn(t, o.Dir)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return content, ends
}

func TestWhatACrashLeavesIsFinishedAtTheNextStart(t *testing.T) {
	for _, c := range []Compression{{}, {none: true}} {
		content, ends := recordingOf(t, c)
		for cut := 0; cut <= len(content); cut += 31 {
			for _, tail := range []string{"", strings.Repeat("\x00", 20)} {
				o := testOptions(t.TempDir())
				o.Compression = c
				name := leftBehind + c.extension()
				left := append(content[:cut:cut], tail...)
				if err := os.WriteFile(filepath.Join(o.Dir, name+openExtension), left, 0o600); err != nil {
					t.Fatal(err)
				}
				w := newWitness()
				r := New(o, w)
				r.Start()
				r.Close()
				whole := 0
				for _, end := range ends {
					if end <= cut {
						whole = end
					}
				}
				if c.none { // its frames are records
					whole = -1
				}
				got := bodies(t, o.Dir)
				names := filesIn(t, o.Dir)
				switch {
				case whole == 0 && len(names) != 0:
					t.Fatalf("%s, cut at %d: got %q, with nothing whole in it", c, cut, names)
				case whole > 0 && (len(names) != 1 || names[0] != name || sizeOf(t, o.Dir, name) != int64(whole) || w.adoptedSoFar()[filepath.Join(o.Dir, name)] != int64(len(left)-whole)):
					t.Fatalf("%s, cut at %d: got %q, adopted %v; want %d bytes", c, cut, names, w.adoptedSoFar(), whole)
				case whole < 0 && len(got) < 2*cut/ends[0]:
					t.Fatalf("%s, cut at %d: got %d records", c, cut, len(got))
				}
			}
		}
	}
}

func TestNothingIsOverwrittenByWhatIsAdopted(t *testing.T) {
	content, _ := recordingOf(t, Compression{})
	o := testOptions(t.TempDir())
	name := leftBehind + ".fbf.lz4"
	for _, file := range []string{name, name + openExtension} {
		if err := os.WriteFile(filepath.Join(o.Dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWitness()
	r := New(o, w)
	r.Start()
	r.Close()
	if names := filesIn(t, o.Dir); len(names) != 2 || w.failures(AdoptFile) != 1 {
		t.Errorf("got %q and %d failures", names, w.failures(AdoptFile))
	}
}

func TestFileOfALivingRecorderIsLeftAlone(t *testing.T) {
	o := testOptions(t.TempDir())
	o.FlushEvery = Duration(10 * time.Millisecond)
	w := newWitness()
	old := New(o, w)
	addText(t, old, "1", "x")
	eventually(t, "record on disk", func() bool { return w.recordedSoFar() == 1 })
	next := New(o, w)
	next.Start()
	addText(t, next, "2", "x")
	next.Close()
	if names := filesIn(t, o.Dir); len(names) != 2 || len(w.adoptedSoFar()) != 0 {
		t.Errorf("got %q, adopted %v", names, w.adoptedSoFar())
	}
	addText(t, old, "3", "x")
	old.Close()
	if got := bodies(t, o.Dir); len(got) != 3 {
		t.Errorf("got %v", got)
	}
}

// TestKilledProcess runs this test's program a second time, as a process that
// records until it is killed.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv("RECORDER_TEST_DIR"); dir != "" {
		recordForever(t, dir)
	}
	o := testOptions(t.TempDir())
	process := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	process.Env = append(os.Environ(), "RECORDER_TEST_DIR="+o.Dir)
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	flushed := 0
	for lines := bufio.NewScanner(out); flushed < 200 && lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "on disk: %d", &flushed); err != nil {
			t.Fatalf("got %q", lines.Text())
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // says that it was killed
	if names := filesIn(t, o.Dir); len(names) != 1 || !strings.HasSuffix(names[0], openExtension) {
		t.Fatalf("got %q after the kill", names)
	}
	r := New(o, newWitness())
	r.Start()
	r.Close()
	if got := bodies(t, o.Dir); len(got) < flushed || flushed < 200 {
		t.Errorf("got %d records, of which %d were on disk", len(got), flushed)
	}
}

func recordForever(t *testing.T, dir string) {
	o := testOptions(dir)
	o.FlushEvery = Duration(10 * time.Millisecond)
	w := newWitness()
	r := New(o, w)
	for i := 0; ; i++ {
		addText(t, r, fmt.Sprint(i), noise(100))
		if i%100 == 0 {
			time.Sleep(10 * time.Millisecond)
			fmt.Printf("on disk: %d\n", w.recordedSoFar())
		}
	}
}

// FuzzWholeSize looks for the end of the last whole frame in any bytes: no
// panic, and what is whole is no longer than what is there.
func FuzzWholeSize(f *testing.F) {
	for _, c := range []Compression{{}, {none: true}} {
		l := newLane(c)
		l.batch = &batch{records: []byte("\x04\x00\x00\x00\x00\x00\x00\x00abcd")}
		l.compress()
		f.Add(l.frame, !c.none)
		f.Add(append(l.frame, l.frame[:len(l.frame)/2]...), !c.none)
	}
	f.Fuzz(func(t *testing.T, content []byte, compressed bool) {
		size, err := wholeSize(bytes.NewReader(content), compressed)
		if err != nil || size > int64(len(content)) {
			t.Fatalf("got %d of %d bytes, error %v", size, len(content), err)
		}
		again, err := wholeSize(bytes.NewReader(content[:size]), compressed)
		if err != nil || again != size {
			t.Errorf("got %d, and of that %d, error %v", size, again, err)
		}
	})
}
