// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

const leftBehind = "requests_20261101T000000Z_000001-0000000a"

// recordingOf returns the bytes of a file of three frames with two records each,
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
		r.flush()
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
		var cuts []int
		for cut := 0; cut < len(content); cut += 31 {
			cuts = append(cuts, cut)
		}
		for _, end := range ends {
			cuts = append(cuts, end-9, end)
		}
		cuts = append(cuts, len(content))
		for _, cut := range cuts {
			for _, tail := range []string{"", strings.Repeat("\x00", 20), "\x10\x00\x00\x80 stored, no record"} {
				left := append(content[:cut:cut], tail...)
				t.Run(fmt.Sprintf("%s, %d of %d bytes and %d", c, cut, len(content), len(tail)), func(t *testing.T) {
					checkAdoption(t, c, left, content, ends, cut)
				})
			}
		}
	}
}

// checkAdoption has a recorder find a file of which the bytes up to a cut are
// content, of which blocks end where ends say.
func checkAdoption(t *testing.T, c Compression, left, content []byte, ends []int, cut int) {
	o := testOptions(t.TempDir())
	o.Compression = c
	name := leftBehind + c.extension()
	path := filepath.Join(o.Dir, name)
	if err := os.WriteFile(path+openExtension, left, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWitness()
	r := New(o, w)
	r.Start()
	r.Close()
	names := filesIn(t, o.Dir)
	kept, size := 0, 0
	for _, end := range ends {
		if end <= len(left) && bytes.Equal(left[:end], content[:end]) {
			kept, size = end, end+frame.EndSize
		}
	}
	if cut == len(content) && !c.none {
		kept = cut // with its end
	}
	switch {
	case len(left) == 0:
		if len(names) != 0 || len(w.deleted) != 0 {
			t.Errorf("got %q, deleted %q", names, w.deleted)
		}
	case cut == 0: // no recording, whatever its name is
		if len(names) != 1 || w.failures(AdoptFile) != 1 || sizeOf(t, o.Dir, name+openExtension) != int64(len(left)) {
			t.Errorf("got %q and %d failures", names, w.failures(AdoptFile))
		}
	case c.none: // it is cut between records
		if cut >= ends[0] && len(bodies(t, o.Dir)) < 2*cut/ends[0] {
			t.Errorf("got %q", names)
		}
	case kept == 0:
		if len(names) != 0 || w.deleted[path+openExtension] != "left behind without a whole record" {
			t.Errorf("got %q, deleted %q", names, w.deleted)
		}
	default:
		if len(names) != 1 || names[0] != name || sizeOf(t, o.Dir, name) != int64(size) || w.adoptedSoFar()[path] != int64(len(left)-kept) {
			t.Fatalf("got %q, adopted %v; want %d bytes", names, w.adoptedSoFar(), size)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := io.Copy(io.Discard, lz4.NewReader(file)); err != nil { // it has its end
			t.Error(err)
		}
	}
}

// TestWhatCannotBeReadBackIsCutOff damages each byte of a block: from there on
// nothing is kept, and what is kept is whole.
func TestWhatCannotBeReadBackIsCutOff(t *testing.T) {
	content, ends := recordingOf(t, Compression{})
	for at := ends[0]; at < ends[1]; at += 7 {
		left := bytes.Clone(content)
		left[at] ^= 0xff
		path := filepath.Join(t.TempDir(), leftBehind+".fbf.lz4")
		if err := os.WriteFile(path+openExtension, left, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := repair(path + openExtension)
		if err != nil || found.whole != path {
			t.Fatalf("byte %d: got %+v, error %v", at, found, err)
		}
		all := make(map[string]string)
		if ids := readFile(t, path, all); len(ids) != 2 && len(ids) != 6 { // in a body it is not noticed
			t.Errorf("byte %d: got %q", at, ids)
		}
	}
}

// TestFileFromBeforeIsFinished finds what version 0.1 left: a frame for each write.
func TestFileFromBeforeIsFinished(t *testing.T) {
	record, err := os.ReadFile("../testdata/before/samples.fbf")
	if err != nil {
		t.Fatal(err)
	}
	var left bytes.Buffer
	for range 3 {
		w := lz4.NewWriter(&left)
		if err := w.Apply(lz4.BlockSizeOption(lz4.Block256Kb), lz4.BlockChecksumOption(true), lz4.ChecksumOption(true)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(record); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	one := left.Len() / 3
	for _, cut := range []int{one, one + 5, 2 * one, 3*one - 5, 3 * one} {
		path := filepath.Join(t.TempDir(), leftBehind+".fbf.lz4")
		if err := os.WriteFile(path+openExtension, left.Bytes()[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := repair(path + openExtension); err != nil || found.whole != path {
			t.Fatalf("cut at %d: got %+v, error %v", cut, found, err)
		}
		f, err := recording.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, err = f.Next()
		}
		f.Close()
		want := cut / one
		if cut == 3*one-5 { // the last block is whole, of its frame the end is missing
			want = 3
		}
		if err != io.EOF || f.Unfinished() || n-1 != 5*want {
			t.Errorf("cut at %d: got %d records and error %v, want %d", cut, n-1, err, 5*want)
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

// FuzzWholePart looks for what can be kept of any bytes: no panic, and what is
// kept is no longer than what is there and is kept again.
func FuzzWholePart(f *testing.F) {
	record, err := os.ReadFile("../testdata/samples.fbf")
	if err != nil {
		f.Fatal(err)
	}
	l := newLane(Compression{})
	l.batch = &batch{records: record}
	l.compress()
	f.Add(record, false)
	f.Add(frameOf(string(record), l.blocks), true)
	f.Add(append([]byte(frame.Header), l.blocks...), true)
	f.Fuzz(func(t *testing.T, content []byte, compressed bool) {
		kept, err := wholePart(bytes.NewReader(content), compressed)
		if err != nil && !errors.Is(err, ErrStrange) || kept.Disk > int64(len(content)) {
			t.Fatalf("got %d of %d bytes, error %v", kept.Disk, len(content), err)
		}
		again, err := wholePart(bytes.NewReader(content[:kept.Disk]), compressed)
		if err != nil || again.Disk != kept.Disk || again.Open != kept.Open {
			t.Errorf("got %d, and of that %d, error %v", kept.Disk, again.Disk, err)
		}
	})
}
