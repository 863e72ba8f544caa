// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"

	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// Records that hardly shrink, since their bodies are compressed already or
// random, would still cost as much to compress as all else that is done for
// them. While they do not shrink by a fifth, one batch of sixteen is tried and
// the others are stored as they are.
const (
	worthwhile = 5 // the part of a batch, as a divisor, that compression has to save
	storedRow  = 15
)

// lane compresses batches, one at a time.
type lane struct {
	compressBlock func(src, dst []byte) (int, error) // nil: nothing is compressed
	sparing       bool                               // does not compress what hardly shrinks
	stored        int                                // batches to be stored before one is compressed again
	memory        []byte
	batch         *batch
	blocks        []byte // of the batch, once it is compressed
	err           error
}

func newLane(c Compression) *lane {
	switch {
	case c.none:
		return &lane{}
	case c.level > 0:
		compressor := lz4.CompressorHC{Level: lz4.Level1 << (c.level - 1)}
		return &lane{compressBlock: compressor.CompressBlock}
	}
	// On noise three times as fast as lz4.Compressor, for a percent more bytes.
	return &lane{compressBlock: new(lz4.CompressorCCompat).CompressBlock, sparing: true}
}

// compress makes blocks of the batch.
func (l *lane) compress() {
	defer func() {
		if p := recover(); p != nil {
			l.err = fmt.Errorf("compressing: %v", p)
		}
	}()
	l.err = nil
	records := l.batch.records
	if l.compressBlock == nil {
		l.blocks = records
		return
	}
	if cap(l.memory) > 4*largestBatch { // what a large record took is not kept
		l.memory = nil
	}
	compressBlock := l.compressBlock
	if l.stored > 0 && len(records) <= largestBatch {
		l.stored--
		compressBlock = nil
	}
	l.memory = l.memory[:0]
	for rest := records; len(rest) > 0; {
		n := min(len(rest), frame.BlockSize)
		l.memory = frame.AppendBlock(l.memory, rest[:n], compressBlock)
		rest = rest[n:]
	}
	l.blocks = l.memory
	if l.sparing && compressBlock != nil && len(l.blocks) > len(records)-len(records)/worthwhile {
		l.stored = storedRow
	}
}
