// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// content is what a recipe serves.
type content struct {
	response.Content
	mediaType string
	varying   *varying // if its size is drawn for each request
	missing   error    // why there is none
	file      bool     // it comes from a file, of which parts can be asked for
}

// newContent makes the content of a recipe. That of an origin is missing until
// it has been fetched.
func newContent(r *recipe.Recipe, chance rand.Source) (*content, error) {
	switch {
	case r.Origin != "":
		return missingContent(errNotFetched), nil
	case r.Body != nil:
		return bodyContent(*r.Body, r, chance), nil
	case r.BodyFile != "":
		return fileContent(r.BodyFile, r)
	case r.RandomContent != nil:
		return randomContent(*r.RandomContent, r), nil
	}
	return new(content), nil
}

var errNotFetched = errors.New("it has not been fetched yet")

// missingContent returns the content that is not there for a reason.
func missingContent(reason error) *content { return &content{missing: reason} }

// ownBodies makes the content of the outcomes that have their own, by stage,
// until the context ends. Outcomes share that of a file; size is the memory that
// files take.
func ownBodies(ctx context.Context, r *recipe.Recipe, chance rand.Source) (bodies [][]*content, size int64, err error) {
	bodies = make([][]*content, len(r.Stages))
	files := make(map[string]*content)
	for i, stage := range r.Stages {
		bodies[i] = make([]*content, len(stage.Outcomes))
		for j, outcome := range stage.Outcomes {
			switch {
			case ctx.Err() != nil:
				return nil, 0, ctx.Err()
			case outcome.Body != nil:
				bodies[i][j] = bodyContent(*outcome.Body, r, chance)
			case outcome.BodyFile != "":
				c := files[outcome.BodyFile]
				if c == nil {
					if c, err = fileContent(outcome.BodyFile, r); err != nil {
						return nil, 0, &recipe.FieldError{Field: r.OutcomeField(i, j, "body_file"), Err: errors.Unwrap(err)}
					}
					files[outcome.BodyFile] = c
					size += c.inMemory()
				}
				if size > recipe.LargestSize {
					return nil, 0, &recipe.FieldError{Field: r.OutcomeField(i, j, "body_file"), Err: recipe.ErrTooLarge}
				}
				bodies[i][j] = c
			}
		}
	}
	return bodies, size, nil
}

// inMemory returns the memory that content takes which comes from a file, in
// bytes: what is read for each request takes none.
func (c *content) inMemory() int64 {
	if c.File != "" {
		return 0
	}
	return c.Size
}

// bodyContent makes a content of a text of the recipe, its holes filled.
func bodyContent(text string, r *recipe.Recipe, chance rand.Source) *content {
	body := recipe.FillBody(text, func(size int64) []byte { return randomText(size, chance) })
	return blockContent(body, response.TypeOf(text), r)
}

// textContent returns a text of the simulator's own.
func textContent(text string, r *recipe.Recipe) *content {
	return blockContent([]byte(text), response.TypeOf(text), r)
}

// blockContent makes a content of bytes, gzipped if the recipe says so and they
// are not so already.
func blockContent(block []byte, mediaType string, r *recipe.Recipe) *content {
	if r.Headers.Gzip() && len(block) > 0 && !isGzip(block) {
		block = compress(block)
	}
	return &content{Content: response.Shared(block), mediaType: mediaType}
}

func isGzip(block []byte) bool { return bytes.HasPrefix(block, []byte{0x1f, 0x8b, 0x08}) }

func compress(block []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(block) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// keptFile is the size up to which a file is kept in memory; what is larger is
// read again for every request.
const keptFile = 4 << 20

// fileContent makes a content of a file.
func fileContent(name string, r *recipe.Recipe) (*content, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, inBodyFile(units.LookedIn(err, name))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, inBodyFile(err)
	}
	if !info.Mode().IsRegular() {
		return nil, inBodyFile(fmt.Errorf("%s is not a regular file", name))
	}
	start := make([]byte, min(512, info.Size()))
	if _, err := io.ReadFull(file, start); err != nil {
		return nil, inBodyFile(err)
	}
	toCompress := r.Headers.Gzip() && !isGzip(start)
	if info.Size() > keptFile && !toCompress {
		c := &content{mediaType: response.TypeOf(string(start)), file: true}
		c.Content = response.Content{File: name, Size: info.Size()}
		return c, nil
	}
	if info.Size() > recipe.LargestBody {
		return nil, inBodyFile(errors.New("too large to be gzipped here: gzip the file itself"))
	}
	block, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
	if err != nil {
		return nil, inBodyFile(err)
	}
	c := blockContent(block, response.TypeOf(string(start)), r)
	c.file = true
	return c, nil
}

func inBodyFile(err error) error { return &recipe.FieldError{Field: "body_file", Err: err} }
