// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// decode reads a value as WireMock's reader of JSON does: a number or a boolean may
// be written as a text, and the reverse.
func decode(data json.RawMessage, target any) error {
	err := json.Unmarshal(data, target)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); !other {
		return err
	}
	text := string(bytes.TrimSpace(data))
	quoted := json.Unmarshal(data, &text) == nil
	switch target := target.(type) {
	case *string:
		if text[0] != '{' && text[0] != '[' {
			*target = text
			return nil
		}
	case *int:
		n, failed := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if failed == nil && n == float64(int32(n)) {
			*target = int(n)
			return nil
		}
	case *int64:
		n, failed := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if failed == nil && n == float64(int32(n)) {
			*target = int64(n)
			return nil
		}
	case *bool:
		if quoted && (text == "true" || text == "false") {
			*target = text == "true"
			return nil
		}
	}
	return err
}

// strict reads JSON whose objects have no other fields than the target.
func strict(data json.RawMessage, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(target)
}

// First returns the first value of what WireMock's reader takes for JSON, as JSON, and
// what stands behind it, at which that reader does not look. What is no JSON stays whole.
func First(data []byte) (value []byte, rest string) {
	return firstValue(plainJSON(units.TrimBOM(data)))
}

// plainJSON returns JSON without what WireMock's reader takes and JSON does not have:
// comments, and texts in single quotes. Everything else stays as it is and where it is.
func plainJSON(data []byte) []byte {
	if !bytes.ContainsAny(data, "/'") {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"':
			end := endOfText(data, i)
			out = append(out, data[i:end]...)
			i = end
		case c == '\'':
			end := endOfText(data, i)
			out = appendQuoted(out, data[i+1:max(i+1, end-1)])
			i = end
		case bytes.HasPrefix(data[i:], []byte("//")):
			end := bytes.IndexByte(data[i:], '\n')
			if end < 0 {
				end = len(data) - i
			}
			i += end
		case bytes.HasPrefix(data[i:], []byte("/*")):
			end := bytes.Index(data[i+2:], []byte("*/"))
			if end < 0 {
				return data // it is not closed: for the reader of JSON to say so
			}
			for _, c := range data[i : i+2+end+2] { // so that errors name the right line
				if c == '\n' {
					out = append(out, c)
				}
			}
			out = append(out, ' ')
			i += 2 + end + 2
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// firstValue returns the first value of a text in JSON and, unless it is all, what
// stands behind it, at which WireMock's reader does not look. What is no JSON stays whole.
func firstValue(data []byte) (value []byte, rest string) {
	var first json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(data))
	if decoder.Decode(&first) != nil {
		return data, ""
	}
	end := decoder.InputOffset()
	return data[:end], string(bytes.TrimSpace(data[end:]))
}

// endOfText returns where a text ends that begins with a quote.
func endOfText(data []byte, begin int) int {
	for i := begin + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case data[begin]:
			return i + 1
		}
	}
	return len(data)
}

// appendQuoted appends what stood in single quotes in double ones.
func appendQuoted(out, text []byte) []byte {
	out = append(out, '"')
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			out = append(out, '\\', '"')
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '\'':
			out = append(out, '\'')
			i++
		case text[i] == '\\' && i+1 < len(text):
			out = append(out, text[i], text[i+1])
			i++
		default:
			out = append(out, text[i])
		}
	}
	return append(out, '"')
}
