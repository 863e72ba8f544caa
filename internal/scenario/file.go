// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// keptFile is the size up to which a file is kept in memory; what is larger is
// read again for every request.
const keptFile = 4 << 20

// fileContent makes a content of a file.
func fileContent(name string, r *recipe.Recipe) (*content, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, inBodyFile(err)
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
		c := &content{mediaType: response.TypeOf(string(start))}
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
	return blockContent(block, response.TypeOf(string(start)), r), nil
}

func inBodyFile(err error) error { return &recipe.FieldError{Field: "body_file", Err: err} }
