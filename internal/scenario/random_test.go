// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
)

func TestRandomContentHasItsSize(t *testing.T) {
	sizes := []int64{1, 2, 3, 999, 1024, 428 << 10, blockSize - 1, blockSize, blockSize + 1, 2*blockSize + 12345}
	for _, size := range sizes {
		plain := plainOfSize(size)
		if n := int64(len(strings.Join(texts(plain.Parts), ""))); n != size || plain.Size != size {
			t.Errorf("got %d bytes, said to be %d; want %d", n, plain.Size, size)
		}
		zipped := ask(t, play(t, `{"random_content":"`+strconv.FormatInt(size, 10)+`b","headers":{"content-encoding":"gzip"},"stages":[{}]}`), "/")
		if got := int64(len(unzip(t, zipped))); got != size {
			t.Errorf("gzipped %d bytes, got %d back", size, got)
		}
		if zipped.Length != strconv.Itoa(len(bodyOf(zipped))) {
			t.Errorf("%d bytes, said to be %s", len(bodyOf(zipped)), zipped.Length)
		}
	}
}

func texts(parts [][]byte) (texts []string) {
	for _, part := range parts {
		texts = append(texts, string(part))
	}
	return texts
}

// TestRandomContentIsOneSharedBlock holds that a body within a block is written
// at once and that no answer has memory of its own.
func TestRandomContentIsOneSharedBlock(t *testing.T) {
	a, b := plainOfSize(428<<10), plainOfSize(100)
	if len(a.Parts) != 1 || &a.Parts[0][0] != &b.Parts[0][0] {
		t.Error("the content is not shared")
	}
}

func TestSizeIsDrawnForEachRequest(t *testing.T) {
	s := play(t, `{"random_content":"10b..13b","stages":[{}]}`)
	seen := make(map[int]int)
	for range 4000 {
		a := ask(t, s, "/")
		if a.Length != strconv.Itoa(len(bodyOf(a))) {
			t.Fatalf("%d bytes, said to be %s", len(bodyOf(a)), a.Length)
		}
		seen[len(bodyOf(a))]++
	}
	for size := 10; size <= 13; size++ {
		if math.Abs(float64(seen[size]-1000)) > 200 {
			t.Errorf("size %d came %d times of 4000", size, seen[size])
		}
	}
	if len(seen) != 4 {
		t.Errorf("got sizes %v", seen)
	}
}

// TestNothingIsDrawn holds that an answer whose size is drawn as 0 is that of an
// empty body: nothing says that it is gzipped.
func TestNothingIsDrawn(t *testing.T) {
	s := play(t, `{"random_content":"0b..1b","headers":{"content-encoding":"gzip","x-a":"1"},"stages":[{}]}`)
	seen := make(map[string]bool)
	for range 100 {
		a := ask(t, s, "/")
		encoding := field(a, "Content-Encoding")
		seen[encoding] = true
		if (encoding == "") != (a.Content.Size == 0) || a.Length != strconv.Itoa(len(bodyOf(a))) || field(a, "X-A") != "1" {
			t.Fatalf("%d bytes, encoded as %q, with %v", a.Content.Size, encoding, a.Fields)
		}
	}
	if len(seen) != 2 {
		t.Errorf("got only %v", seen)
	}
}

func TestRandomTextIsPlain(t *testing.T) {
	for size := range int64(50) {
		text := string(randomText(size, latency.Random()))
		if int64(len(text)) != size || strings.Trim(text, letters) != "" {
			t.Errorf("size %d: got %q", size, text)
		}
	}
}
