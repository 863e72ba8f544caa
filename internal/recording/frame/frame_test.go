// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

func TestHash(t *testing.T) {
	for text, want := range map[string]uint32{
		"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f,
	} {
		if got := hash([]byte(text)); got != want {
			t.Errorf("%q: got %#x, want %#x", text, got, want)
		}
	}
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	want := hash(data)
	for range 100 { // in any parts
		var h Hash
		for rest := data; len(rest) > 0; {
			n := rand.IntN(min(len(rest), 40) + 1)
			h.Add(rest[:n])
			rest = rest[n:]
			if copied := h; copied.Sum() != h.Sum() {
				t.Fatal("Sum changes the hash")
			}
		}
		if got := h.Sum(); got != want {
			t.Fatalf("got %#x in parts, %#x at once", got, want)
		}
	}
}

// ours returns a frame with a block for each part.
func ours(parts ...string) []byte {
	frame := []byte(Header)
	var sum Hash
	var compressor lz4.CompressorCCompat
	for i, part := range parts {
		compress := compressor.CompressBlock
		if i%3 == 2 {
			compress = nil
		}
		frame = AppendBlock(frame, []byte(part), compress)
		sum.Add([]byte(part))
	}
	return AppendEnd(frame, &sum)
}

func TestReaderReadsWhatTheLibraryWrites(t *testing.T) {
	content := []byte(strings.Repeat("all work and no play ", 20_000) + Header)
	for _, options := range [][]lz4.Option{
		{lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(true)},
		{lz4.BlockSizeOption(lz4.Block4Mb), lz4.ChecksumOption(false)},
		{lz4.BlockSizeOption(lz4.Block256Kb), lz4.SizeOption(uint64(len(content)))},
		{lz4.BlockSizeOption(lz4.Block1Mb), lz4.CompressionLevelOption(lz4.Level9)},
	} {
		var out bytes.Buffer
		w := lz4.NewWriter(&out)
		if err := w.Apply(options...); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r := NewReader(&out, nil)
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) || r.Unfinished() {
			t.Errorf("%v: got %d bytes, error %v, unfinished %v", options, len(got), err, r.Unfinished())
		}
	}
}

// TestReaderAtEveryCut cuts two frames at every byte: what whole blocks hold is
// read, and the end is known as one between blocks or within one.
func TestReaderAtEveryCut(t *testing.T) {
	parts := []string{strings.Repeat("first, ", 4), "second", "third, stored", strings.Repeat("x", 500)}
	input := slices.Concat(ours(parts...), []byte("\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"), ours(parts[:2]...))
	var marks []Mark
	all, err := io.ReadAll(NewReader(bytes.NewReader(input), func(m Mark) { marks = append(marks, m) }))
	if err != nil || len(marks) != len(parts)+1+3 {
		t.Fatalf("got error %v and %d marks", err, len(marks))
	}
	for cut := range input {
		var want Mark
		between := cut == 0 || cut == len(Header)
		for _, m := range marks {
			if m.Disk <= int64(cut) {
				want = m
				between = between || m.Disk == int64(cut)
			}
		}
		second := marks[len(parts)].Disk + 11
		between = between || int64(cut) == second || int64(cut) == second+int64(len(Header))
		r := NewReader(bytes.NewReader(input[:cut]), nil)
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, all[:want.Raw]) {
			t.Fatalf("cut at %d: got %d bytes, want %d", cut, len(got), want.Raw)
		}
		if between != (err == nil) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: got error %v", cut, err)
		}
		if n, again := r.Read(make([]byte, 1)); n != 0 || again != cmp.Or(err, io.EOF) {
			t.Fatalf("cut at %d: got %d bytes and error %v behind error %v", cut, n, again, err)
		}
	}
}

func TestReaderFindsDamage(t *testing.T) {
	input := ours(strings.Repeat("first, ", 4), "second", "third, stored")
	for at := range input {
		bad := bytes.Clone(input)
		bad[at] ^= 0x41
		if _, err := io.ReadAll(NewReader(bytes.NewReader(bad), nil)); err == nil {
			t.Errorf("byte %d changed: no error", at)
		}
	}
}

// FuzzReader reads any bytes beside the library: where both read all, it is the
// same.
func FuzzReader(f *testing.F) {
	f.Add(ours(strings.Repeat("first, ", 4), "second", "third, stored"))
	f.Fuzz(func(t *testing.T, input []byte) {
		got, err := io.ReadAll(NewReader(bytes.NewReader(input), nil))
		want, other := io.ReadAll(lz4.NewReader(bytes.NewReader(input)))
		if err == nil && other == nil && !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, the library gets %d", len(got), len(want))
		}
	})
}
