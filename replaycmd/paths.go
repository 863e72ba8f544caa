// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// stdinArg is the argument that stands for standard input.
const stdinArg = "-"

// inputs returns what arguments stand for: see expand, and inStore for those that
// are in an object store. What is there is read as long as ctx lasts.
func (s *selection) inputs(ctx context.Context, args []string, stdin io.Reader, note func(error)) ([]source.Input, error) {
	stored, local := partition(args, objects.IsURL)
	names, err := expand(local, note)
	if err != nil {
		return nil, err
	}
	all := make([]source.Input, len(names))
	for i, name := range names {
		if all[i], err = input(name, stdin); err != nil {
			return nil, err
		}
	}
	taken := make(map[string]bool)
	for _, url := range stored {
		found, err := s.inStore(ctx, url, note)
		if err != nil {
			return nil, err
		}
		for _, input := range found {
			if !taken[input.Name] {
				taken[input.Name] = true
				all = append(all, input)
			}
		}
	}
	return all, nil
}

// partition returns the texts of which is holds, and the others.
func partition(texts []string, is func(string) bool) (yes, no []string) {
	for _, text := range texts {
		if is(text) {
			yes = append(yes, text)
		} else {
			no = append(no, text)
		}
	}
	return yes, no
}

// input returns what a name stands for. What is no regular file, such as a pipe,
// is a stream.
func input(name string, stdin io.Reader) (source.Input, error) {
	if name == stdinArg {
		return source.Input{Name: "standard input", Stream: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return source.Input{}, err
	}
	return source.Input{
		Name: name, Size: info.Size(), Stream: !info.Mode().IsRegular(),
		Open: func() (io.ReadCloser, error) { return os.Open(name) },
	}, nil
}

// expand turns arguments into names of files: a folder stands for the
// recordings in it, a pattern for what it matches. Each file comes once, those
// of one argument in the order of their names. Recordings that are not finished
// are left out of folders; they are noted.
func expand(args []string, note func(error)) ([]string, error) {
	var files []string
	for _, arg := range args {
		found, err := expandOne(arg, note)
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

func expandOne(arg string, note func(error)) ([]string, error) {
	if arg == stdinArg {
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

// inFolder returns the finished recordings of a folder.
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
