// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

// deepest is how deep a client's JSON may be nested: what looks at it goes down
// by recursion. WireMock has the same limit.
const deepest = 1000

// LargestJSON is the size in bytes up to which a text counts as JSON: parsed it
// takes many times its memory.
const LargestJSON = 4 << 20

// ValidJSON reports whether a text is JSON that is no larger than LargestJSON
// and nested no deeper than 1000 levels. It takes for JSON what encoding/json
// does, in a fraction of its time: every body that is compared as JSON comes here
// first.
func ValidJSON(text string) bool {
	if len(text) > LargestJSON {
		return false
	}
	end := validValue(text, skipSpace(text, 0), deepest)
	return end >= 0 && skipSpace(text, end) == len(text)
}

// skipSpace returns where the white space ends that begins at i.
func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// validValue returns where the value ends that begins at i, with at most depth
// levels; negative, if none begins there.
func validValue(text string, i, depth int) int {
	if i >= len(text) {
		return -1
	}
	switch c := text[i]; c {
	case '"':
		return validString(text, i)
	case '{':
		return validMembers(text, i+1, depth-1)
	case '[':
		return validElements(text, i+1, depth-1)
	case 't':
		return validWord(text, i, "true")
	case 'f':
		return validWord(text, i, "false")
	case 'n':
		return validWord(text, i, "null")
	}
	return validNumber(text, i)
}

func validMembers(text string, i, depth int) int {
	if depth < 0 {
		return -1
	}
	if i = skipSpace(text, i); i < len(text) && text[i] == '}' {
		return i + 1
	}
	for {
		if i = skipSpace(text, i); i >= len(text) || text[i] != '"' {
			return -1
		}
		if i = validString(text, i); i < 0 {
			return -1
		}
		if i = skipSpace(text, i); i >= len(text) || text[i] != ':' {
			return -1
		}
		if i = validValue(text, skipSpace(text, i+1), depth); i < 0 {
			return -1
		}
		i = skipSpace(text, i)
		switch {
		case i >= len(text):
			return -1
		case text[i] == '}':
			return i + 1
		case text[i] != ',':
			return -1
		}
		i++
	}
}

func validElements(text string, i, depth int) int {
	if depth < 0 {
		return -1
	}
	if i = skipSpace(text, i); i < len(text) && text[i] == ']' {
		return i + 1
	}
	for {
		if i = validValue(text, skipSpace(text, i), depth); i < 0 {
			return -1
		}
		i = skipSpace(text, i)
		switch {
		case i >= len(text):
			return -1
		case text[i] == ']':
			return i + 1
		case text[i] != ',':
			return -1
		}
		i++
	}
}

// validString is for a text in quotes, whose first is at i.
func validString(text string, i int) int {
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c != '\\':
		case i+1 >= len(text):
			return -1
		default:
			i++
			switch text[i] {
			case 'b', 'f', 'n', 'r', 't', '\\', '/', '"':
			case 'u':
				for range 4 {
					if i++; i >= len(text) || !isHex(text[i]) {
						return -1
					}
				}
			default:
				return -1
			}
		}
	}
	return -1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func validWord(text string, i int, word string) int {
	if len(text)-i < len(word) || text[i:i+len(word)] != word {
		return -1
	}
	return i + len(word)
}

func validNumber(text string, i int) int {
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if i = validDigits(text, i); i < 0 {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		if i = validDigits(text, i+1); i < 0 {
			return -1
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		i = validDigits(text, i)
	}
	return i
}

// validDigits is for digits, of which there has to be one.
func validDigits(text string, i int) int {
	start := i
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
