// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

const filesFolder = "__files"

// readFile reads a body file. It cannot lie outside of the folder for them.
func (o origin) readFile(name string) ([]byte, error) {
	if strings.Contains(name, "{{") {
		return nil, errors.New("a template in the name of the file is not supported")
	}
	folder := filepath.Join(o.directory, filesFolder)
	if !isDirectory(folder) {
		folder = filepath.Join(o.directory, "..", filesFolder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(strings.TrimPrefix(name, "/"))
}
