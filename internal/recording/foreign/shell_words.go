// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"strings"
)

// shellWords takes a command line apart as a POSIX shell does, with bash's $'…'.
// It ends with the command: at ; | & < or >. More means that another line has to
// follow. What a shell would replace is refused.
func shellWords(text string) (words []string, more bool, err error) {
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
			word.Reset()
		}
		begun = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			if i+1 == len(text) {
				return nil, true, nil
			}
			i++
			if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			if text[i] != '\n' {
				begun = true
				word.WriteByte(text[i])
			}
		case c == '\'':
			length := strings.IndexByte(text[i+1:], '\'')
			if length < 0 {
				return nil, true, nil
			}
			begun = true
			word.WriteString(text[i+1 : i+1+length])
			i += length + 1
		case c == '"', c == '$' && strings.HasPrefix(text[i:], "$'"):
			if c == '$' {
				i++
			}
			length, plain, err := quoted(text[i:])
			if err != nil {
				return nil, false, err
			}
			if length == 0 {
				return nil, true, nil
			}
			begun = true
			word.WriteString(plain)
			i += length - 1
		case c == '`', c == '$' && i+1 < len(text) && (text[i+1] == '(' || text[i+1] == '{' || isLetter(text[i+1])):
			return nil, false, errors.New("it has something for a shell to replace")
		case c == ' ', c == '\t', c == '\n', c == '\r':
			end()
			if c == '\n' { // the command has ended, unless a backslash was before it
				return words, false, nil
			}
		case strings.IndexByte(";|&<>", c) >= 0:
			end()
			return words, false, nil
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	end()
	return words, false, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// quoted returns how long a text in " or ' is, and what it says. Backslashes
// within ' are those of $'…'. The length is 0 if it does not end.
func quoted(text string) (length int, plain string, err error) {
	quote := text[0]
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == quote:
			return i + 1, out.String(), nil
		case quote == '"' && (c == '`' || c == '$' && i+1 < len(text) && (text[i+1] == '(' || text[i+1] == '{' || isLetter(text[i+1]))):
			return 0, "", errors.New("it has something for a shell to replace")
		case c != '\\' || i+1 == len(text):
			out.WriteByte(c)
		case quote == '"':
			i++
			if strings.IndexByte("\"\\$`\n", text[i]) < 0 {
				out.WriteByte('\\')
			}
			if text[i] != '\n' {
				out.WriteByte(text[i])
			}
		case text[i+1] == '\'':
			i++
			out.WriteByte('\'')
		default:
			width := map[byte]int{'x': 4, 'u': 6}[text[i+1]]
			escape := text[i:min(len(text), i+max(width, 2))]
			out.WriteString(unescapeLog([]byte(escape)))
			i += len(escape) - 1
		}
	}
	return 0, "", nil
}
