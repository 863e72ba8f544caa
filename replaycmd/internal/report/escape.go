// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape returns a text that can't steer a terminal: what is not printable, line
// breaks and tabs included, is written as \x1b or \u009b, and \xff if it is not
// UTF-8.
func Escape(text string) string { return escape(text, "") }

func escape(text, allowed string) string {
	safe := func(c rune, size int) bool {
		return unicode.IsPrint(c) && (c != utf8.RuneError || size > 1) || c < utf8.RuneSelf && strings.ContainsRune(allowed, c)
	}
	var out strings.Builder
	done := 0
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRuneInString(text[at:])
		if !safe(c, size) {
			out.WriteString(text[done:at])
			switch high, low := utf16.EncodeRune(c); {
			case c == utf8.RuneError, c < ' ': // which JSON has escaped itself
				fmt.Fprintf(&out, `\x%02x`, text[at])
			case high != utf8.RuneError:
				fmt.Fprintf(&out, `\u%04x\u%04x`, high, low) // as JSON has it
			default:
				fmt.Fprintf(&out, `\u%04x`, c)
			}
			done = at + size
		}
		at += size
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// Escaping returns a writer of text that can't steer a terminal. Each Write is a
// whole text; of what is not printable only line breaks and tabs pass. JSON that
// goes through it stays the same JSON.
func Escaping(w io.Writer) io.Writer { return escaping{w} }

type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(string(p), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}
