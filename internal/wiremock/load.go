// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads mappings from files and directories.
//
// A file holds one mapping, a list of mappings or {"mappings": [...]}. Of a
// directory every .json file is read, in the order of their paths; if it has a
// folder `mappings`, as WireMock's root has, only that. Body files are looked
// for in a folder `__files` in or beside the directory.
func Load(paths ...string) ([]*Mapping, error) {
	var all []*Mapping
	for _, path := range paths {
		mappings, err := load(path)
		if err != nil {
			return nil, err
		}
		all = append(all, mappings...)
	}
	return all, nil
}

// Parse reads mappings from JSON. Name is what errors call it; body files are
// looked for in a folder `__files` in or beside the directory.
func Parse(data []byte, name, directory string) ([]*Mapping, error) {
	return parseFile(data, origin{file: name, directory: directory})
}

// origin is where a mapping comes from.
type origin struct {
	file      string
	directory string // in or beside which __files is
}

func load(path string) ([]*Mapping, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return loadFile(path, filepath.Dir(path))
	}
	if inner := filepath.Join(path, "mappings"); isDirectory(inner) {
		path = inner
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	files, err := jsonFiles(path)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no .json file in it", path)
	}
	var all []*Mapping
	for _, file := range files {
		mappings, err := loadFile(file, path)
		if err != nil {
			return nil, err
		}
		all = append(all, mappings...)
	}
	return all, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// jsonFiles lists the .json files below a directory, without those that are
// bodies or in hidden folders, where Kubernetes keeps what it links to.
func jsonFiles(directory string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
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

func loadFile(path, directory string) ([]*Mapping, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseFile(data, origin{file: path, directory: directory})
}

func parseFile(data []byte, from origin) ([]*Mapping, error) {
	list, isList, err := splitFile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from.file, err)
	}
	mappings := make([]*Mapping, len(list))
	for i, element := range list {
		if mappings[i], err = parseMapping(element, from); err != nil {
			if isList {
				return nil, fmt.Errorf("%s: mappings[%d]: %w", from.file, i, err)
			}
			return nil, fmt.Errorf("%s: %w", from.file, err)
		}
	}
	return mappings, nil
}
