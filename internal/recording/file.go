// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import "os"

// File is a recording on disk.
type File struct {
	*Reader
	file *os.File
}

// OpenFile opens a recording. Whether it is one shows at the first call of Next.
func OpenFile(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{Reader: NewReader(file), file: file}, nil
}

// Name gives the path that the recording was opened by.
func (f *File) Name() string { return f.file.Name() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
