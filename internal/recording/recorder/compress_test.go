// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// frameOf returns a frame of blocks that hold content.
func frameOf(content string, blocks []byte) []byte {
	var sum frame.Hash
	sum.Add([]byte(content))
	return frame.AppendEnd(append([]byte(frame.Header), blocks...), &sum)
}

// TestBatchesAreBlocksOfOneFrame has the lz4 package read what lanes make of
// batches of all sizes, and check it.
func TestBatchesAreBlocksOfOneFrame(t *testing.T) {
	for _, compression := range []string{"lz4", "lz4 1", "lz4 9"} {
		c, _ := ParseCompression(compression)
		l := newLane(c)
		var want strings.Builder
		var blocks []byte
		for _, size := range []int{1, 3, 4, 15, 16, 17, 100, 65_537, largestBatch - 1, largestBatch, largestBatch + 1, 3*largestBatch + 5} {
			for _, content := range []string{noise(size), strings.Repeat("again ", size/6+1)[:size]} {
				l.batch = &batch{records: []byte(content)}
				l.compress()
				if l.err != nil {
					t.Fatal(l.err)
				}
				blocks = append(blocks, l.blocks...)
				want.WriteString(content)
			}
		}
		got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(frameOf(want.String(), blocks))))
		if err != nil || string(got) != want.String() {
			t.Errorf("%s: got %d of %d bytes, error %v", compression, len(got), want.Len(), err)
		}
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
			got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(frameOf(tc.batch, l.blocks))))
			if l.err != nil || err != nil || string(got) != tc.batch {
				t.Fatalf("%s: got %d of %d bytes, errors %v, %v", tc.name, len(got), len(tc.batch), l.err, err)
			}
			if len(l.blocks) < len(tc.batch) {
				compressed++
			}
		}
		if compressed != tc.compressed {
			t.Errorf("%s: %d batches were compressed, want %d", tc.name, compressed, tc.compressed)
		}
	}
}

// TestSmallRecordsTakeWhatLZ4MakesOfAll records small JSON requests at 200 a
// second, of which a block leaves at every flush: together they may take 5 %
// more than one run of lz4 -1 over all of them.
func TestSmallRecordsTakeWhatLZ4MakesOfAll(t *testing.T) {
	var all, perFlush []byte
	l := newLane(Compression{})
	size := len(frame.Header) + frame.EndSize
	flush := func() {
		l.batch = &batch{records: perFlush}
		l.compress()
		size += len(l.blocks)
		perFlush = perFlush[:0]
	}
	r := New(testOptions(t.TempDir()), newWitness())
	for i := range 60 * 200 {
		d := r.Begin()
		d.TimeNS = 1_796_049_300_000_000_000 + int64(i)*5_000_000
		d.ID = d.NewID()
		d.Method = d.Text("POST")
		d.URI = d.Text(fmt.Sprintf("/api/v1/orders?currency=%s", []string{"EUR", "USD", "JPY"}[i%3]))
		d.Proto = d.Text("HTTP/1.1")
		d.Scheme = d.Text("https")
		d.Host = d.Text("shop.test")
		d.Remote = d.Text(fmt.Sprintf("10.0.%d.%d:%d", i%7, i%251, 30_000+i*7%30_000))
		d.AddField("Host", "shop.test")
		d.AddField("Accept", "application/json")
		d.AddField("Content-Type", "application/json")
		d.AddField("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0")
		body := fmt.Sprintf(`{"customer":%d,"items":[{"sku":"cup-%d","quantity":%d},{"sku":"spoon-%d","quantity":1}],"note":"order %d"}`, i*7919%100_000, i%50, i%9, i%23, i)
		if err := d.ReadBody(t.Context(), strings.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		record := d.encoder.Append(nil, &d.Request)
		d.Release()
		all = append(all, record...)
		perFlush = append(perFlush, record...)
		if i%175 == 174 { // seven eighths of flush_every: age is looked at in steps
			flush()
		}
	}
	r.Close()
	whole := 15 // header with the content's size, end and checksum
	var compressor lz4.CompressorCCompat
	for rest := all; len(rest) > 0; {
		n := min(len(rest), 4<<20) // lz4 -1 has independent blocks of 4 MiB
		block := make([]byte, lz4.CompressBlockBound(n))
		packed, err := compressor.CompressBlock(rest[:n], block)
		if err != nil {
			t.Fatal(err)
		}
		whole += 4 + packed
		rest = rest[n:]
	}
	if size > whole+whole/20 {
		t.Errorf("got %d bytes, %.1f %% more than the %d of lz4 -1 over all", size, 100*(float64(size)/float64(whole)-1), whole)
	}
}
