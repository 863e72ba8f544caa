// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math/rand/v2"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// blockSize is how much random content there is; what is larger repeats it.
const blockSize = 1 << 20

// block is the random content of all scenarios.
var block = sync.OnceValue(func() []byte { return randomText(blockSize, latency.Seeded(1)) })

// shared is the block as answers share it.
var shared = sync.OnceValue(func() *memfile.Body { return memfile.New(block()) })

// letters are what random content is made of: safe inside of HTML, XML and JSON.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// randomText makes text that does not compress below three quarters.
func randomText(size int64, source rand.Source) []byte {
	text := make([]byte, size)
	const perDraw = 10 // letters, of 6 bits each
	for i := 0; i < len(text); i += perDraw {
		bits := source.Uint64()
		for j := i; j < min(i+perDraw, len(text)); j++ {
			text[j] = letters[bits&63]
			bits >>= 6
		}
	}
	return text
}

// randomContent makes content of a size, or of a range of sizes.
func randomContent(sizes recipe.SizeRange, r *recipe.Recipe) *content {
	sized := plainOfSize
	if r.Headers.Gzip() {
		sized = gzipOfSize
	}
	c := &content{mediaType: response.TypeOf("")}
	if sizes.Lower == sizes.Upper {
		c.Content = sized(int64(sizes.Lower))
		return c
	}
	c.varying = &varying{int64(sizes.Lower), int64(sizes.Upper), sized}
	return c
}

// varying is content whose size is drawn for each request.
type varying struct {
	lower, upper int64
	ofSize       func(int64) response.Content
}

func (v *varying) draw(chance rand.Source) response.Content {
	return v.ofSize(v.lower + int64(chance.Uint64()%uint64(v.upper-v.lower+1)))
}

// plainOfSize puts content together from the block.
func plainOfSize(size int64) response.Content {
	parts := make([][]byte, 0, size/blockSize+1)
	for rest := size; rest > 0; rest -= blockSize {
		parts = append(parts, block()[:min(rest, blockSize)])
	}
	c := response.Content{Parts: parts, Size: size}
	if len(parts) == 1 {
		c.Memory = shared()
	}
	return c
}
