// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

var vegetaStart = regexp.MustCompile(`^[A-Z]+ https?://[^ ]+$`)

func beginsVegeta(line []byte) bool { return vegetaStart.Match(bytes.TrimSpace(line)) }

func newVegeta(r io.Reader, _ bool) Decoder {
	l := &lineDecoder{lines: newLines(r)}
	l.parse = l.parseVegeta
	return l
}

// parseVegeta reads a target of vegeta's HTTP form: method and URL, then lines
// with fields and perhaps @FILE, up to the next target or an empty line.
func (l *lineDecoder) parseVegeta(d *draft, line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '#' {
		return nil
	}
	method, target, _ := strings.Cut(string(line), " ")
	if !beginsVegeta(line) {
		return fmt.Errorf("'%s' is not a target: expected a method and a URL", shorten(string(line)))
	}
	if err := d.setURL(strings.TrimSpace(target)); err != nil {
		return err
	}
	var wrong error
	for {
		line, err := l.next()
		if err != nil {
			break
		}
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(text, "#"):
			continue
		case beginsVegeta(line):
			l.unread(line)
		case strings.HasPrefix(text, "@"):
			body, err := readBody(text[1:])
			if err != nil {
				wrong = err
			}
			d.Body = body
			continue
		case text != "":
			name, value, found := strings.Cut(text, ":")
			if !found {
				wrong = fmt.Errorf("'%s' is not a header field", shorten(text))
				continue
			}
			d.field(strings.TrimSpace(name), strings.TrimSpace(value))
			continue
		}
		break
	}
	d.Method = []byte(method)
	return wrong
}

// maxBodyFile is the most bytes of a body that a list names by its file.
const maxBodyFile = 64 << 20

// readBody reads the file of a body, below the working directory only: a list
// may come from anybody.
func readBody(name string) ([]byte, error) {
	root, err := os.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name) // before it is opened: that of a pipe waits for its writer
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening body, which has to be below the working directory: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("body %s is not a regular file", name)
	case info.Size() > maxBodyFile:
		return nil, fmt.Errorf("body %s is longer than %d MiB", name, maxBodyFile>>20)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxBodyFile))
}
