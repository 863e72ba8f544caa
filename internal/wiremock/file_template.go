// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// fileTemplate is a body file whose name is made for each request. What is read of
// it is kept for as long as it does not change.
type fileTemplate struct {
	name *template.Template
	from origin
	with templating

	lock  sync.Mutex
	known map[string]*bodyFile
}

// bodyFile is a file that was read.
type bodyFile struct {
	info fs.FileInfo
	data []byte
	body *template.Template // nil: it is sent as it is
}

// How many files are kept, and how large they may be.
const (
	mostKeptFiles   = 1000
	largestKeptFile = 1 << 20
)

func (r *definition) parseFileName(f *fields, data json.RawMessage, from origin, t templating) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return plain(err)
	}
	name, err := t.parse(text)
	if err != nil {
		return err
	}
	f.warnOf("bodyFileName", text, name, t)
	r.file = &fileTemplate{name: name, from: from, with: t, known: make(map[string]*bodyFile)}
	return nil
}

// open returns the file for a request. It cannot lie outside of the folder for
// them.
func (f *fileTemplate) open(r *Request) (*bodyFile, error) {
	name := string(f.name.Append(nil, model{r}))
	info, err := f.from.fileInfo(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.New(notFound(name))
	}
	f.lock.Lock()
	file := f.known[name]
	f.lock.Unlock()
	if file != nil && file.info.Size() == info.Size() && file.info.ModTime().Equal(info.ModTime()) {
		return file, nil
	}
	data, err := f.from.readFile(name)
	if err != nil {
		return nil, errors.New(notFound(name))
	}
	file = &bodyFile{info: info, data: data}
	if !f.with.plainFiles {
		if file.body, err = f.with.parse(string(data)); err != nil {
			return nil, fmt.Errorf("the body file '%s': %w", shortened(name), err)
		}
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if delete(f.known, name); len(f.known) < mostKeptFiles && len(data) <= largestKeptFile {
		f.known[name] = file
	}
	return file, nil
}
