// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"strconv"

	"github.com/pierrec/lz4/v4"
)

// Compression is how files are compressed. As text it is `lz4`, `lz4` with a
// level from 1 (fast) to 9 (small), or `none`. The zero value is `lz4`.
type Compression struct {
	none  bool
	level int
}

// ParseCompression reads the text form.
func ParseCompression(text string) (Compression, error) {
	switch text {
	case "lz4":
		return Compression{}, nil
	case "none":
		return Compression{none: true}, nil
	}
	if level, ok := cutWord(text, "lz4"); ok {
		if n, err := strconv.Atoi(level); err == nil && n >= 1 && n <= 9 {
			return Compression{level: n}, nil
		}
	}
	return Compression{}, fmt.Errorf("'%s' is not a compression: expected lz4, lz4 with a level from 1 to 9, or none", text)
}

func cutWord(text, word string) (rest string, ok bool) {
	if len(text) <= len(word)+1 || text[:len(word)+1] != word+" " {
		return "", false
	}
	return text[len(word)+1:], true
}

// String gives the text that ParseCompression reads.
func (c Compression) String() string {
	switch {
	case c.none:
		return "none"
	case c.level > 0:
		return "lz4 " + strconv.Itoa(c.level)
	}
	return "lz4"
}

// MarshalText writes the compression as text.
func (c Compression) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the compression from text.
func (c *Compression) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCompression(string(text))
	return err
}

// extension is what file names end in.
func (c Compression) extension() string {
	if c.none {
		return plainExtension
	}
	return plainExtension + lz4Extension
}

// newWriter makes a writer of LZ4 frames. Blocks are independent and carry
// checksums, so that a damaged place is found where it is. The checksum of the
// whole frame is there for the lz4 command: without it version 1.9.4 reads
// past the end of a frame and misses the start of the next.
func (c Compression) newWriter() *lz4.Writer {
	level := lz4.CCompatFast // on noise three times as fast as lz4.Fast, for a percent more bytes
	if c.level > 0 {
		level = lz4.Level1 << (c.level - 1)
	}
	w := lz4.NewWriter(nil)
	_ = w.Apply( // fails for values that lz4 does not know
		lz4.BlockSizeOption(lz4.Block256Kb),
		lz4.BlockChecksumOption(true),
		lz4.ChecksumOption(true),
		lz4.CompressionLevelOption(level),
	)
	return w
}
