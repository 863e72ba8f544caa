// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"
)

// CheckField refuses a header field that no HTTP message can carry.
func CheckField(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("'%s' is not a header field name", name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("the value of %s has a character that a header field cannot carry", name)
	}
	return nil
}

// CheckJSON returns where data stops being one JSON value and why: the line and
// the column, both counted from 1, the column in characters.
func CheckJSON(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var anything json.RawMessage
	err := json.Unmarshal(data, &anything)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := data[:min(max(int(syntax.Offset)-1, 0), len(data))]
		begin := bytes.LastIndexByte(before, '\n') + 1
		return fmt.Errorf("line %d, column %d: %w", 1+bytes.Count(before, []byte("\n")), 1+utf8.RuneCount(before[begin:]), err)
	}
	return err
}

// TrimBOM takes the mark off that some editors put before a text of UTF-8.
func TrimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }

// LookedIn adds the directory that a relative path was looked for in to an error
// of opening it.
func LookedIn(err error, path string) error {
	directory, failed := os.Getwd()
	if err == nil || failed != nil || filepath.IsAbs(path) {
		return err
	}
	return fmt.Errorf("%w (looked in %s)", err, directory)
}

// InField returns an error of reading a T from JSON as one to which encoding/json
// adds the name of the field: it does for no other kind. It is nil if there is none.
func InField[T any](err error) error {
	if err == nil {
		return nil
	}
	return &json.UnmarshalTypeError{Value: fmt.Sprintf("a value (%v)", err), Type: reflect.TypeFor[T]()}
}
