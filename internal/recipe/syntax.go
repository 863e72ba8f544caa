// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// checkSyntax finds out whether data is one JSON value, and if it is not, in
// which field it stops being one.
func checkSyntax(data []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	if err == nil {
		return nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = fmt.Errorf("not JSON: %v at byte %d", syntax, syntax.Offset)
	}
	path := brokenField(data, deepest)
	if strings.HasPrefix(path, "[") {
		path = "recipes" + path
	}
	return in(path, err)
}

// deepest is how many levels of a broken document are looked into; recipes
// have fewer.
const deepest = 8

// brokenField gives the path of the field at which reading breaks off.
func brokenField(data []byte, depth int) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	opening, err := dec.Token()
	if err != nil || depth == 0 {
		return ""
	}
	for i := 0; dec.More(); i++ {
		var step string
		switch opening {
		case json.Delim('{'):
			name, err := dec.Token()
			if err != nil {
				return ""
			}
			step, _ = name.(string)
		case json.Delim('['):
			step = index(i)
		default:
			return ""
		}
		before := dec.InputOffset()
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			rest := bytes.TrimLeft(data[before:], ":, \t\r\n")
			if opening == json.Delim('[') && bytes.HasPrefix(rest, []byte("[")) {
				return step // no recipe has lists of lists
			}
			return join(step, brokenField(rest, depth-1))
		}
	}
	return ""
}

// isNull tells whether a value is there in name only.
func isNull(value []byte) bool { return string(bytes.TrimSpace(value)) == "null" }

// kind says what a value is, for errors.
func kind(value []byte) string {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f', 'n':
		return string(value)
	}
	return "a number"
}
