// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"iter"
)

// CopyField is the field by which a tee marks the requests that it copies, with
// its name. Replay leaves it out: a tee of the same name before a target would
// take what is replayed for copies of its own.
const CopyField = "X-Rehearsal-Copy"

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
