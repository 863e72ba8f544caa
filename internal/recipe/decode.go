// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// decoders has what reads each field that an object may have.
type decoders map[string]func(value []byte) error

// decodeObject reads an object whose every field is known and there once. A
// field that is null counts as absent.
func decodeObject(data []byte, known decoders) error {
	dec, err := open(data, '{', "an object")
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for dec.More() {
		name, value, err := nextField(dec)
		if err != nil {
			return in(name, err)
		}
		decode, ok := known[name]
		if !ok {
			return in(name, unknownField(known))
		}
		if seen[name] {
			return in(name, errors.New("given twice"))
		}
		seen[name] = true
		if isNull(value) {
			continue
		}
		if err := decode(value); err != nil {
			return in(name, err)
		}
	}
	return nil
}

func unknownField(known decoders) error {
	return fmt.Errorf("unknown field: expected one of %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// nextField reads a name and its value.
func nextField(dec *json.Decoder) (name string, value json.RawMessage, err error) {
	token, err := dec.Token()
	if err != nil {
		return "", nil, err
	}
	name, _ = token.(string)
	err = dec.Decode(&value)
	return name, value, err
}

// decodeList reads a list, handing each element over with its index.
func decodeList(data []byte, element func(i int, value []byte) error) error {
	dec, err := open(data, '[', "a list")
	if err != nil {
		return err
	}
	for i := 0; dec.More(); i++ {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return in(index(i), err)
		}
		if err := element(i, value); err != nil {
			return in(index(i), err)
		}
	}
	return nil
}

// open starts reading an object or a list.
func open(data []byte, delim json.Delim, want string) (*json.Decoder, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if token != delim {
		return nil, fmt.Errorf("expected %s, got %s", want, kind(data))
	}
	return dec, nil
}

// longestNumber is the length up to which an error has a number itself.
const longestNumber = 32

// decodeInto reads a plain value.
func decodeInto[T any](into *T, want string) func([]byte) error {
	return func(value []byte) error {
		if err := json.Unmarshal(value, into); err != nil {
			got := kind(value)
			if got == "a number" && strings.Contains(want, "number") && len(value) <= longestNumber {
				got = string(value)
			}
			return fmt.Errorf("expected %s, got %s", want, got)
		}
		return nil
	}
}

// decodeText reads a value that is written as text.
func decodeText[T any](into *T, parse func(string) (T, error)) func([]byte) error {
	return func(value []byte) (err error) {
		var text string
		if err := decodeInto(&text, "text")(value); err != nil {
			return err
		}
		*into, err = parse(text)
		return err
	}
}

// decodeNew reads a value that need not be there.
func decodeNew[T any](into **T, decode func(*T, []byte) error) func([]byte) error {
	return func(value []byte) error {
		*into = new(T)
		return decode(*into, value)
	}
}

// decodeTextNew reads a value that is written as text and need not be there.
func decodeTextNew[T any](into **T, parse func(string) (T, error)) func([]byte) error {
	return decodeNew(into, func(t *T, value []byte) error { return decodeText(t, parse)(value) })
}

// checkSyntax finds out whether data is one JSON value, and if it is not, in
// which field it stops being one.
func checkSyntax(data []byte) error {
	err := units.CheckJSON(data)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("is not valid JSON: %w", err)
	path := brokenField(data, deepest)
	if strings.HasPrefix(path, "[") {
		path = "recipes" + path
	}
	return in(path, err)
}

// deepest is how many levels of a broken document are looked into; recipes
// have fewer.
const deepest = 8

// brokenField returns the path of the field at which reading breaks off.
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

// isNull reports whether a value is there in name only.
func isNull(value []byte) bool { return string(bytes.TrimSpace(value)) == "null" }

// kind returns what a value is, for errors.
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

// FieldError is what is wrong with one field of a recipe.
type FieldError struct {
	// The path of the field, like `recipes[1].stages[0].latency`.
	Field string
	Err   error
}

// Error names the field and what is wrong with it.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns what is wrong without the field.
func (e *FieldError) Unwrap() error { return e.Err }

// in puts an error inside of a field; the path grows from the inside out.
func in(field string, err error) error {
	if err == nil || field == "" {
		return err
	}
	if inner, ok := errors.AsType[*FieldError](err); ok {
		return &FieldError{Field: join(field, inner.Field), Err: inner.Err}
	}
	return &FieldError{Field: field, Err: err}
}

// join puts two parts of a path together.
func join(outer, inner string) string {
	if outer == "" || inner == "" || strings.HasPrefix(inner, "[") {
		return outer + inner
	}
	return outer + "." + inner
}

// index returns the part of a path that leads into a list.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }
