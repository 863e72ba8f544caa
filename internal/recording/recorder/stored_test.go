// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// storedSizes are sizes of blocks around those at which the checksum changes
// its ways.
var storedSizes = []int{1, 3, 4, 15, 16, 17, 100, 65_537, largestBatch}

// TestStoredFrames has the lz4 package check the frames.
func TestStoredFrames(t *testing.T) {
	for _, size := range storedSizes {
		block := []byte(noise(size))
		var frame bytes.Buffer
		writeStored(&frame, block)
		if got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(frame.Bytes()))); err != nil || !bytes.Equal(got, block) {
			t.Errorf("a frame of %d bytes: got %d bytes, error %v", size, len(got), err)
		}
		if n, err := wholeSize(bytes.NewReader(frame.Bytes()), true); n != int64(frame.Len()) || err != nil {
			t.Errorf("a frame of %d bytes: %d of %d bytes are whole, error %v", size, n, frame.Len(), err)
		}
	}
}

func TestStoredFramesStartAsTheOthers(t *testing.T) {
	var compressed, stored bytes.Buffer
	w := Compression{}.newWriter()
	w.Reset(&compressed)
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeStored(&stored, []byte("x"))
	if !bytes.Equal(compressed.Bytes(), stored.Bytes()) {
		t.Errorf("a frame of one byte is\n% x, by the lz4 package\n% x", stored.Bytes(), compressed.Bytes())
	}
}

func TestWhatHardlyShrinksIsMostlyStored(t *testing.T) {
	text := strings.Repeat("all work and no play makes a dull test. ", 500)
	hardly := noise(len(text)) + text[:len(text)/8]
	for _, tc := range []struct {
		name        string
		compression Compression
		batch       string
		compressed  int // of 32
	}{
		{"text", Compression{}, text, 32},
		{"what hardly shrinks", Compression{}, hardly, 2},
		{"what hardly shrinks, with a level", Compression{level: 1}, hardly, 32},
		{"a large record", Compression{}, strings.Repeat(hardly, 1+largestBatch/len(hardly)), 32},
	} {
		l := newLane(tc.compression)
		compressed := 0
		for range 32 {
			l.batch = &batch{records: []byte(tc.batch)}
			l.compress()
			got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(l.frame)))
			if l.err != nil || err != nil || string(got) != tc.batch {
				t.Fatalf("%s: got %d of %d bytes, errors %v, %v", tc.name, len(got), len(tc.batch), l.err, err)
			}
			if len(l.frame) < len(tc.batch) {
				compressed++
			}
		}
		if compressed != tc.compressed {
			t.Errorf("%s: %d batches were compressed, want %d", tc.name, compressed, tc.compressed)
		}
	}
}
