// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import (
	"bytes"
	"io"
	"os"

	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
)

// Content is the bytes of a body, in parts that many responses share, or a file.
type Content struct {
	Parts [][]byte
	// Memory is what the only part is the beginning of, if many responses share
	// it; else nil.
	Memory *memfile.Body
	// File is read for each response: whole, as it is then, or if it is Partial,
	// Size bytes from Offset on.
	File    string
	Offset  int64
	Partial bool
	// Size is in bytes. A whole file may have changed since; Open returns
	// its size.
	Size int64
}

// Bytes returns a content of a single block.
func Bytes(block []byte) Content {
	if len(block) == 0 {
		return Content{}
	}
	return Content{Parts: [][]byte{block}, Size: int64(len(block))}
}

// Shared returns a content of a block that many responses share.
func Shared(block []byte) Content {
	c := Bytes(block)
	if len(block) > 0 {
		c.Memory = memfile.New(block)
	}
	return c
}

// Open returns the bytes one after the other, and how many they are.
func (c *Content) Open() (io.ReadCloser, int64, error) {
	if c.File == "" {
		readers := make([]io.Reader, len(c.Parts))
		for i, part := range c.Parts {
			readers[i] = bytes.NewReader(part)
		}
		return io.NopCloser(io.MultiReader(readers...)), c.Size, nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return nil, 0, err
	}
	if c.Partial {
		if _, err := file.Seek(c.Offset, io.SeekStart); err != nil {
			file.Close()
			return nil, 0, err
		}
		return file, c.Size, nil
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// now returns how many bytes there are at present.
func (c *Content) now() int64 {
	if c.File == "" || c.Partial {
		return c.Size
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return c.Size // opening it will fail
	}
	return info.Size()
}

// slice returns n of the bytes, from an offset on; there must be as many.
func (c *Content) slice(offset, n int64) Content {
	if c.File != "" {
		return Content{File: c.File, Offset: c.Offset + offset, Partial: true, Size: n}
	}
	var parts [][]byte
	rest := n
	for _, part := range c.Parts {
		size := int64(len(part))
		if offset >= size {
			offset -= size
			continue
		}
		part = part[offset:min(size, offset+rest)]
		offset = 0
		if rest -= int64(len(part)); len(part) > 0 {
			parts = append(parts, part)
		}
		if rest == 0 {
			break
		}
	}
	return Content{Parts: parts, Size: n}
}
