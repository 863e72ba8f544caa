// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the argument that stands for standard input.
const Stdin = "-"

// Expand turns arguments into names of files: a folder stands for the
// recordings in it, a pattern for what it matches. Each file comes once, those
// of one argument in the order of their names. Recordings that are not finished
// are left out of folders; they are noted.
func Expand(args []string, note func(error)) ([]string, error) {
	var files []string
	for _, arg := range args {
		found, err := expand(arg, note)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if slices.Contains(files, name) {
				continue
			}
			files = append(files, name)
			if isUnfinished(name) {
				note(fmt.Errorf("%s is not finished: only what is there now is read", name))
			}
		}
	}
	return files, nil
}

func expand(arg string, note func(error)) ([]string, error) {
	if arg == Stdin {
		return []string{arg}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return inFolder(arg, note)
	case err == nil:
		return []string{arg}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	matches, errPattern := filepath.Glob(arg)
	if errPattern != nil {
		return nil, fmt.Errorf("pattern '%s': %v", arg, errPattern)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("'%s' does not exist and matches no file: expected a recording, a folder, a pattern, a URL or -", arg)
	}
	return slices.DeleteFunc(matches, func(name string) bool {
		return isFolder(name) || isHidden(name) && !isHidden(arg) // as a shell would
	}), nil
}

// inFolder gives the finished recordings of a folder.
func inFolder(folder string, note func(error)) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var finished, open []string
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		switch {
		case isFolder(name):
		case isRecordingName(entry.Name()):
			finished = append(finished, name)
		case isUnfinished(name):
			open = append(open, name)
		}
	}
	switch {
	case len(finished) > 0 && len(open) > 0:
		note(fmt.Errorf("left out, as they are not finished: %s", strings.Join(open, ", ")))
	case len(open) > 0:
		return nil, fmt.Errorf("folder '%s' has no finished recording, only one that is being written or was left by a crash: "+
			"name '%s' to read what it has so far, or wait until it is rotated",
			folder, open[0])
	case len(finished) == 0:
		return nil, fmt.Errorf("folder '%s' has no recording: expected files named *.fbf or *.lz4", folder)
	}
	return finished, nil
}

// unfinished is what the name of a recording ends with while it is written.
const unfinished = ".tmp"

func isUnfinished(name string) bool {
	finished, found := strings.CutSuffix(filepath.Base(name), unfinished)
	return found && isRecordingName(finished)
}

func isRecordingName(name string) bool {
	return !isHidden(name) && (strings.HasSuffix(name, ".fbf") || strings.HasSuffix(name, ".lz4"))
}

func isHidden(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
