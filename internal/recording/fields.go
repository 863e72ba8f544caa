// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"iter"
)

// emptyLine ends the header fields of a stored record, as adobe/blackhole has it
// and its assembly of a request needs it. A Request and a Response are without.
var emptyLine = []byte("\r\n")

// withoutEmptyLine returns header fields without the line that ends them. Those
// that were recorded before version 0.2 have none.
func withoutEmptyLine(lines []byte) []byte {
	fields, ok := bytes.CutSuffix(lines, emptyLine)
	switch {
	case !ok || len(fields) > 0 && fields[len(fields)-1] != '\n':
		return lines
	case len(fields) == 0:
		return nil
	}
	return fields
}

// AppendField adds the line of one header field to dst. A line break within it,
// which no message can carry but other handlers can make, becomes a space.
func AppendField(dst []byte, name, value string) []byte {
	from := len(dst)
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	if line := dst[from:]; bytes.IndexByte(line, '\n') >= 0 || bytes.IndexByte(line, '\r') >= 0 {
		for i, c := range line {
			if c == '\n' || c == '\r' {
				line[i] = ' '
			}
		}
	}
	return append(dst, "\r\n"...)
}

// EachField yields name and value of "Name: value" lines in their order. Empty
// lines are passed over.
func EachField(lines []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for line := range bytes.Lines(lines) {
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			if !yield(name, bytes.TrimLeft(value, " \t")) {
				return
			}
		}
	}
}
