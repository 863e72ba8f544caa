// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
			return in(name, errors.New("unknown field"))
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

// decodeInto reads a plain value.
func decodeInto[T any](into *T, want string) func([]byte) error {
	return func(value []byte) error {
		if err := json.Unmarshal(value, into); err != nil {
			return fmt.Errorf("expected %s, got %s", want, kind(value))
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
