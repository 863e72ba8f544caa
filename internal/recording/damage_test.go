// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

func TestCutRecordingYieldsEveryWholeRecord(t *testing.T) {
	requests := samples()
	plain := encode(requests...)
	whole := make(map[int]int) // records that end by a place
	end := 0
	for i, r := range requests {
		end += len(encode(r))
		whole[end] = i + 1
	}
	records := 0
	for cut := 1; cut < len(plain); cut++ {
		if n, ok := whole[cut]; ok {
			records = n
			continue // a record's end cannot be told from the recording's
		}
		got, err := readAll(bytes.NewReader(plain[:cut]))
		if len(got) != records {
			t.Fatalf("cut at %d: got %d records, want %d", cut, len(got), records)
		}
		var damage *DamageError
		switch {
		case cut < prefixSize:
			if err != ErrNotRecording {
				t.Fatalf("cut at %d: got error %v, want ErrNotRecording", cut, err)
			}
		case !errors.As(err, &damage) || damage.Records != int64(records) || !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatalf("cut at %d: got error %v, want a cut after %d records", cut, err, records)
		case records > 0 && whole[int(damage.Offset)] != records:
			t.Fatalf("cut at %d: the damage is said to be at %d, which is no record's start", cut, damage.Offset)
		}
	}
}

func TestCutFramesYieldEveryWholeRecordOfWholeBlocks(t *testing.T) {
	r := samples()[0]
	r.Body = bytes.Repeat([]byte("0123456789"), 100)
	one := encode(r)
	frame := compress(t, bytes.Repeat(one, 10), lz4.Block64Kb)
	input := bytes.Repeat(frame, 3)
	for cut := 1; cut < len(input); cut++ {
		got, err := readAll(bytes.NewReader(input[:cut]))
		if len(got) < cut/len(frame)*10 {
			t.Fatalf("cut at %d: got %d records", cut, len(got))
		}
		var damage *DamageError
		const header, end = 7, 4 // a frame that has begun, or of which but the end is missing, is still being written
		if at := cut % len(frame); at == 0 || at == header || at == len(frame)-end {
			if err != io.EOF {
				t.Fatalf("cut at %d, between blocks: got error %v", cut, err)
			}
		} else if !errors.As(err, &damage) || damage.Records != int64(len(got)) || damage.Offset != int64(len(got)*len(one)) {
			t.Fatalf("cut at %d: got %d records and error %v", cut, len(got), err)
		}
	}
}

func TestFlippedBytesAreFound(t *testing.T) {
	r := samples()[0]
	frame := compress(t, bytes.Repeat(encode(r), 10), lz4.Block64Kb)
	input := bytes.Repeat(frame, 2)
	for at := len(frame); at < len(input); at++ {
		bad := bytes.Clone(input)
		bad[at] ^= 0x41
		got, err := readAll(bytes.NewReader(bad))
		want := 10
		if at >= len(input)-4 {
			want = 20 // the mark that ends the last frame
		}
		var damage *DamageError
		if !errors.As(err, &damage) || len(got) != want || damage.Records != int64(want) {
			t.Fatalf("byte %d changed: got %d records and error %v", at, len(got), err)
		}
	}
}

func TestLengthIsNotTrusted(t *testing.T) {
	whole := encode(samples()...)
	for _, tc := range []struct {
		length uint64
		want   string
	}{
		{1 << 63, "a record of 9223372036854775808 bytes is larger than any can be"},
		{MaxRecord + 1, "larger than any can be"},
		{1000, "cut off"},
		{0, "not a request record"},
		{3, "not a request record"},
	} {
		bad := append(bytes.Clone(whole), "01234567\x20\x00\x00\x00 and so on"...)
		binary.LittleEndian.PutUint64(bad[len(whole):], tc.length)
		var err error
		memory := testing.AllocsPerRun(1, func() { _, err = readAll(bytes.NewReader(bad)) })
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Offset != int64(len(whole)) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("length %d: got error %v, want one at %d with %q", tc.length, err, len(whole), tc.want)
		}
		if memory > 1000 {
			t.Errorf("length %d: %v allocations", tc.length, memory)
		}
	}
}

func TestRootIsNotTrusted(t *testing.T) {
	whole := encode(samples()...)
	record := encode(samples()[0])
	size := len(record) - prefixSize
	for _, root := range []int{size - 4, size - 1, size, size + 1, 1<<32 - 1} {
		bad := slices.Concat(whole, record)
		binary.LittleEndian.PutUint32(bad[len(whole)+prefixSize:], uint32(root))
		got, err := readAll(bytes.NewReader(bad))
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Offset != int64(len(whole)) || len(got) != len(samples()) {
			t.Errorf("root %d of a record of %d bytes: got %d records, error %v", root, size, len(got), err)
		}
	}
}

func TestMemoryFollowsTheBytesNotTheLength(t *testing.T) {
	bad := binary.LittleEndian.AppendUint64(nil, MaxRecord)
	bad = append(bad, 4, 0, 0, 0)
	r := NewReader(bytes.NewReader(append(bad, make([]byte, 100<<10)...)))
	if _, err := r.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got error %v", err)
	}
	if cap(r.buffer) > 512<<10 {
		t.Errorf("took %d bytes of memory for 100 KiB of input", cap(r.buffer))
	}
}

// TestMemoryOfALargeRecord holds what a record of 100 MiB takes while it is read:
// itself, and 64 MiB that grow up to where its length is trusted.
func TestMemoryOfALargeRecord(t *testing.T) {
	const length = 100 << 20
	r := NewReader(io.LimitReader(zeros{}, length))
	if err := r.sniff(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := r.fill(length); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > length+64<<20 {
		t.Errorf("it took %d MiB", took>>20)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestWhatIsNoRecording(t *testing.T) {
	for name, tc := range map[string]struct {
		input []byte
		want  error
	}{
		"empty":         {nil, io.EOF},
		"text":          {[]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), ErrNotRecording},
		"short text":    {[]byte("GET"), ErrNotRecording},
		"gzip":          {[]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x02\x03"), ErrNotRecording},
		"text in lz4":   {compress(t, []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), lz4.Block64Kb), ErrNotRecording},
		"nothing in it": {compress(t, nil, lz4.Block64Kb), io.EOF},
		"skipped frame": {[]byte("\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"), io.EOF},
	} {
		r := NewReader(bytes.NewReader(tc.input))
		for range 2 { // an error stays
			if _, err := r.Next(); err != tc.want {
				t.Errorf("%s: got error %v, want %v", name, err, tc.want)
			}
		}
	}
}

func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.fbf")
	if err := os.WriteFile(path, encode(samples()...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Next()
	if err != nil || string(r.ID) != "order-17" || f.Name() != path || f.Offset() == 0 {
		t.Errorf("got %v, error %v, name %s, offset %d", r, err, f.Name(), f.Offset())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenFile(path + ".missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got error %v for a missing file", err)
	}
}
