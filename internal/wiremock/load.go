// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// Loader reads mappings. Any way of reading them returns those that can be served,
// in their order, and an error that has a line for each mapping or file at fault.
type Loader struct {
	// Skip is called with the fault of each mapping that is well-formed JSON and
	// cannot be served. That mapping is left out then. Default: it is a fault of the
	// load.
	Skip func(fault error)

	// Warn is called with what is served other than its author wants: a mapping
	// whose body file is not there, or a template that is sent as it is. Default:
	// nobody is told.
	Warn func(warning error)

	// Templates renders the responses of all mappings, as WireMock does with
	// --global-response-templating, and not only of those that have
	// response-template among their transformers.
	Templates bool

	// NoFiles takes a directory in which there is no mapping. Default: that is an
	// error, since hardly anybody means it.
	NoFiles bool
}

// Load reads mappings as a Loader does that leaves nothing out.
func Load(paths ...string) ([]*Mapping, error) { return new(Loader).Load(paths...) }

// Parse reads mappings from JSON as a Loader does that leaves nothing out.
func Parse(data []byte, name, directory string) ([]*Mapping, error) {
	return new(Loader).Parse(data, name, directory)
}

// Load reads mappings from files and directories.
//
// A file holds one mapping, a list of mappings or {"mappings": [...]}. Of a
// directory every .json file is read, in the order of their paths; if it has a
// folder `mappings`, as WireMock's root has, only that. Body files are looked
// for in a folder `__files` in or beside the directory.
func (l *Loader) Load(paths ...string) ([]*Mapping, error) {
	all := make([]*Mapping, 0, len(paths))
	faults := faults{loader: l}
	for _, path := range paths {
		all = append(all, load(path, &faults)...)
	}
	return all, faults.err()
}

// faults are the errors of a load, of which it names as many as can be read.
type faults struct {
	loader *Loader
	list   []error
	more   int
}

const mostFaults = 1000

func (f *faults) add(err error) {
	if len(f.list) == mostFaults {
		f.more++
		return
	}
	f.list = append(f.list, err)
}

// ofMapping takes the fault of one mapping, which may be left out.
func (f *faults) ofMapping(err error) {
	if f.loader.Skip != nil {
		f.loader.Skip(err)
		return
	}
	f.add(err)
}

func (f *faults) warn(err error) {
	if f.loader.Warn != nil {
		f.loader.Warn(err)
	}
}

func (f *faults) err() error {
	if f.more > 0 {
		return fmt.Errorf("%w\nand %d more", errors.Join(f.list...), f.more)
	}
	return errors.Join(f.list...)
}

// Parse reads mappings from JSON. Name is what errors call the JSON; body files are
// looked for in a folder `__files` in or beside the directory.
func (l *Loader) Parse(data []byte, name, directory string) ([]*Mapping, error) {
	faults := faults{loader: l}
	mappings := parseFile(data, origin{file: name, directory: directory, templates: l.Templates}, &faults)
	return mappings, faults.err()
}

// origin is where a mapping comes from.
type origin struct {
	file      string
	directory string // in or beside which __files is
	templates bool   // every response is rendered
}

func load(path string, faults *faults) []*Mapping {
	info, err := os.Stat(path)
	if err != nil {
		faults.add(units.LookedIn(err, path))
		return nil
	}
	if !info.IsDir() {
		return loadFile(path, filepath.Dir(path), faults)
	}
	if inner := filepath.Join(path, "mappings"); isDirectory(inner) {
		path = inner
	}
	files, err := jsonFiles(&path)
	if err == nil && len(files) == 0 && !faults.loader.NoFiles {
		err = fmt.Errorf("%s: there is no .json file in it", path)
	}
	if err != nil {
		faults.add(err)
		return nil
	}
	var all []*Mapping
	for _, file := range files {
		all = append(all, loadFile(file, path, faults)...)
	}
	return all
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// jsonFiles lists the .json files below a directory, which may be a link and is
// resolved, without those that are bodies or in hidden folders, where Kubernetes
// keeps what it links to.
func jsonFiles(link *string) (files []string, err error) {
	directory, err := filepath.EvalSymlinks(*link)
	if err != nil {
		return nil, err
	}
	*link = directory
	err = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != directory && (entry.Name() == filesFolder || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case !entry.IsDir() && strings.EqualFold(filepath.Ext(path), ".json"):
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

func loadFile(path, directory string, faults *faults) []*Mapping {
	data, err := os.ReadFile(path)
	if err != nil {
		faults.add(err)
		return nil
	}
	return parseFile(data, origin{file: path, directory: directory, templates: faults.loader.Templates}, faults)
}

func parseFile(data []byte, from origin, faults *faults) []*Mapping {
	data, rest := First(data)
	if rest != "" {
		faults.warn(fmt.Errorf("%s: what stands behind the first JSON value is not looked at: %s", from.file, shortened(rest)))
	}
	list, isList, err := splitFile(data)
	if err != nil {
		faults.add(fmt.Errorf("%s: %w", from.file, err))
		return nil
	}
	mappings := make([]*Mapping, 0, len(list))
	for i, element := range list {
		located := func(err error) error {
			if isList {
				err = fmt.Errorf("mappings[%d]: %w", i, err)
			}
			return fmt.Errorf("%s: %w", from.file, err)
		}
		m, err := parseMapping(element, from)
		if err != nil {
			faults.ofMapping(located(err))
			continue
		}
		m.identify(i)
		for _, odd := range m.odd {
			faults.warn(located(m.at(odd)))
		}
		mappings = append(mappings, m)
	}
	return mappings
}

const filesFolder = "__files"

// openFiles opens the folder of body files.
func (o origin) openFiles() (root *os.Root, folder string, err error) {
	folder = filepath.Join(o.directory, filesFolder)
	if !isDirectory(folder) {
		folder = filepath.Join(o.directory, "..", filesFolder)
	}
	if root, err = os.OpenRoot(folder); err != nil {
		return nil, folder, units.LookedIn(err, folder)
	}
	return root, folder, nil
}

// fileInfo describes a body file.
func (o origin) fileInfo(name string) (fs.FileInfo, error) {
	root, _, err := o.openFiles()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(strings.TrimPrefix(name, "/"))
}

// readFile reads a body file. It cannot lie outside of the folder for them.
func (o origin) readFile(name string) ([]byte, error) {
	root, folder, err := o.openFiles()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := root.ReadFile(strings.TrimPrefix(name, "/"))
	if err != nil {
		if whole, failed := filepath.Abs(folder); failed == nil {
			folder = whole
		}
		return nil, fmt.Errorf("%w (looked in %s)", err, folder)
	}
	return data, nil
}

// deepest is how deep mappings may be nested: every level is read again.
const deepest = 1000

// splitFile returns the mappings of a file.
func splitFile(data []byte) (list []json.RawMessage, isList bool, err error) {
	if err := units.CheckJSON(data); err != nil {
		return nil, false, err
	}
	if eval.Nesting(string(data)) > deepest {
		return nil, false, fmt.Errorf("it is nested deeper than %d levels", deepest)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		list, err = elements("", data)
		return list, true, err
	}
	f, err := newFields(data)
	if err != nil {
		return nil, false, err
	}
	inner, isList := f.take("mappings")
	if !isList {
		return []json.RawMessage{data}, false, nil
	}
	f.take("meta")
	if list, err = elements("mappings", inner); err != nil {
		return nil, true, err
	}
	return list, true, f.done()
}
