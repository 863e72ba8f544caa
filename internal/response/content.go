// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import (
	"bytes"
	"io"
	"os"

	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
)

// Content is the bytes of a body, in parts that many answers share, or a file.
type Content struct {
	Parts [][]byte
	// Memory is what the only part is the beginning of, if many responses share
	// it; else nil.
	Memory *memfile.Body
	File   string
	// Size is in bytes. A file may have changed since; Open tells.
	Size int64
}

// Bytes makes a content of a single block.
func Bytes(block []byte) Content {
	if len(block) == 0 {
		return Content{}
	}
	return Content{Parts: [][]byte{block}, Size: int64(len(block))}
}

// Shared makes content of a block that many answers share.
func Shared(block []byte) Content {
	c := Bytes(block)
	if len(block) > 0 {
		c.Memory = memfile.New(block)
	}
	return c
}

// Open gives the bytes one after the other, and how many they are.
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
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}
