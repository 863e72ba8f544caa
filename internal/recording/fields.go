// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"iter"
)

// AppendField adds the line of one header field to dst.
func AppendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// EachField yields name and value of "Name: value" lines in their order. Empty
// lines are passed over: adobe/blackhole ends its headers with one.
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
