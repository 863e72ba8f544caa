// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// What is wrong with a frame.
var (
	errHeader   = errors.New("no LZ4 frame starts here")
	errBlock    = errors.New("an LZ4 block is damaged")
	errChecksum = errors.New("the checksum of an LZ4 frame is wrong")
)

// lookBack is how far a block may refer to the blocks before it.
const lookBack = 64 << 10

// Is reports whether an LZ4 frame, perhaps one to be skipped, starts so. Of a
// start cut short it reports what it may have become.
func Is(start []byte) bool {
	if len(start) >= 4 && start[0]&0xf0 == 0x50 && bytes.Equal(start[1:4], []byte{0x2a, 0x4d, 0x18}) {
		return true
	}
	return bytes.HasPrefix([]byte{0x04, 0x22, 0x4d, 0x18}, start[:min(4, len(start))])
}

// Reader reads what LZ4 frames hold, block by block, whatever their options are.
type Reader struct {
	in     io.Reader
	disk   int64 // bytes read of in
	raw    int64 // bytes that the blocks so far hold
	flags  byte
	open   bool // within a frame
	sum    Hash
	word   [8]byte
	packed []byte
	block  []byte // the last block, after what it may have referred to
	unread []byte // the part of it that Read has not returned
	blocks func(Mark)
	err    error // how it has ended
}

// Mark is a place between two blocks, or two frames.
type Mark struct {
	Disk, Raw int64 // bytes before it, as they are stored and unpacked
	Open      bool  // the frame goes on
	Summed    bool  // a checksum of its content is to end it
	Content   Hash  // of the frame so far
}

// NewReader returns a reader of frames that calls each, if it is not nil, after
// every block and frame. The caller buffers in.
func NewReader(in io.Reader, each func(Mark)) *Reader { return &Reader{in: in, blocks: each} }

// Unfinished reports whether the input has ended after a whole block without the
// frame's end: it is still being written, or its writer was killed.
func (r *Reader) Unfinished() bool { return r.open }

// Read returns what the blocks hold. It ends with io.EOF after a whole frame
// and after a whole block, and with io.ErrUnexpectedEOF elsewhere. Every later
// call returns the same error.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.unread) == 0 {
		if r.err == nil {
			r.err = r.next()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// next reads a header, a block or the end of a frame.
func (r *Reader) next() error {
	size, err := r.uint32()
	if err != nil {
		return err
	}
	switch {
	case !r.open && size&^0xf == 0x184D2A50:
		return r.skip()
	case !r.open && size == magic:
		return r.header()
	case !r.open:
		return errHeader
	case size == 0:
		err = r.end()
	default:
		err = r.data(size)
	}
	if err == nil && r.blocks != nil {
		r.blocks(Mark{Disk: r.disk, Raw: r.raw, Open: r.open, Summed: r.flags&contentSum != 0, Content: r.sum})
	}
	return err
}

// full reads all of p, which the frame is not whole without.
func (r *Reader) full(p []byte) error {
	n, err := io.ReadFull(r.in, p)
	r.disk += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// uint32 reads the number that a block or frame starts with; nothing is missing
// if the input ends before it.
func (r *Reader) uint32() (uint32, error) {
	n, err := io.ReadFull(r.in, r.word[:4])
	r.disk += int64(n)
	return binary.LittleEndian.Uint32(r.word[:]), err
}

// skip passes over a frame that is to be skipped.
func (r *Reader) skip() error {
	if err := r.full(r.word[:4]); err != nil {
		return err
	}
	n, err := io.CopyN(io.Discard, r.in, int64(binary.LittleEndian.Uint32(r.word[:])))
	r.disk += n
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (r *Reader) header() error {
	descriptor := make([]byte, 3, 15)
	if err := r.full(descriptor); err != nil {
		return err
	}
	more := 0
	if descriptor[0]&contentSize != 0 {
		more += 8
	}
	if descriptor[0]&dictionaryID != 0 {
		more += 4
	}
	descriptor = descriptor[:3+more]
	if err := r.full(descriptor[3:]); err != nil {
		return err
	}
	last := len(descriptor) - 1
	if descriptor[0]&0xc2 != version1 || descriptor[1]&0x8f != 0 || descriptor[1]>>4 < 4 || byte(hash(descriptor[:last])>>8) != descriptor[last] {
		return errHeader
	}
	if descriptor[0]&dictionaryID != 0 {
		return errors.New("an LZ4 frame needs a dictionary")
	}
	r.flags = descriptor[0]
	r.open = true
	r.sum = Hash{}
	r.block = r.block[:0]
	most := 1 << (8 + 2*(descriptor[1]>>4&7))
	if cap(r.block) < lookBack+most {
		r.block = make([]byte, 0, lookBack+most)
	}
	return nil
}

// data reads a block, which the number before it describes.
func (r *Reader) data(size uint32) error {
	stored := size&uncompressed != 0
	n := int(size &^ uncompressed)
	before := 0
	if r.flags&independent == 0 {
		before = min(lookBack, len(r.block))
		copy(r.block, r.block[len(r.block)-before:])
	}
	to := r.block[before:min(cap(r.block), before+cap(r.block)-lookBack)]
	if n > len(to) {
		return errBlock
	}
	packed := to
	if !stored {
		if cap(r.packed) < n {
			r.packed = make([]byte, n, min(cap(r.block), max(n, 2*cap(r.packed))))
		}
		packed = r.packed
	}
	packed = packed[:n]
	if err := r.full(packed); err != nil {
		return err
	}
	if r.flags&blockSums != 0 {
		if err := r.full(r.word[:4]); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(r.word[:]) != hash(packed) {
			return fmt.Errorf("%w: its checksum is wrong", errBlock)
		}
	}
	if !stored {
		var err error
		if n, err = lz4.UncompressBlockWithDict(packed, to, r.block[:before]); err != nil {
			return fmt.Errorf("%w: %v", errBlock, err)
		}
	}
	r.block = r.block[:before+n]
	r.unread = r.block[before:]
	r.raw += int64(n)
	if r.flags&contentSum != 0 {
		r.sum.Add(r.unread)
	}
	return nil
}

// end reads what follows the mark that ends a frame.
func (r *Reader) end() error {
	r.open = false
	if r.flags&contentSum == 0 {
		return nil
	}
	if err := r.full(r.word[:4]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(r.word[:]) != r.sum.Sum() {
		return errChecksum
	}
	return nil
}
