// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fields is a JSON object of a mapping of which every field has to be taken by
// someone: what is left at the end is asked for and not supported.
type fields struct {
	path string // where it stands in the mapping: request.headers
	left map[string]json.RawMessage
	data json.RawMessage
	odd  *[]error // what the author of the mapping may not have meant
}

// newFields reads a mapping or a file of them.
func newFields(data json.RawMessage) (*fields, error) { return readFields("", data, new([]error)) }

// inside reads an object that stands within this one.
func (f *fields) inside(name string, data json.RawMessage) (*fields, error) {
	return readFields(f.at(name), data, f.odd)
}

func readFields(path string, data json.RawMessage, odd *[]error) (*fields, error) {
	f := &fields{path: path, data: data, odd: odd}
	if err := json.Unmarshal(data, &f.left); err != nil || f.left == nil {
		return nil, &fieldError{path, errors.New("expected an object")}
	}
	return f, nil
}

// warnf notes what of a field its author may not have meant.
func (f *fields) warnf(name, format string, args ...any) {
	*f.odd = append(*f.odd, &fieldError{f.at(name), fmt.Errorf(format, args...)})
}

// unmet warns of a condition that WireMock takes though it can make nothing of it.
func (f *fields) unmet(name, text string, why error) pattern {
	f.warnf(name, "%w: nothing meets it", why)
	return unmet(name + " '" + text + "'")
}

// fieldError is what is wrong with which field of a mapping.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string {
	if e.path == "" {
		return e.err.Error()
	}
	return e.path + ": " + e.err.Error()
}

func (e *fieldError) Unwrap() error { return e.err }

// take removes a field. A field that is null counts as not given.
func (f *fields) take(name string) (data json.RawMessage, given bool) {
	data, given = f.left[name]
	delete(f.left, name)
	return data, given && !isNull(data)
}

// into decodes a field, if it is given.
func (f *fields) into(name string, target any) (given bool, err error) {
	data, given := f.take(name)
	if !given {
		return false, nil
	}
	if err := decode(data, target); err != nil {
		return true, f.errorf(name, "%v", plain(err))
	}
	return true, nil
}

// done refuses what nobody took.
func (f *fields) done() error {
	for _, name := range slices.Sorted(maps.Keys(f.left)) {
		return f.errorf(name, "not supported")
	}
	return nil
}

// ignore warns of what nobody took, where WireMock does not look at it either.
func (f *fields) ignore(since string) {
	for _, name := range slices.Sorted(maps.Keys(f.left)) {
		if !isVoid(f.left[name]) {
			f.warnf(name, "is not looked at, since there is %s", since)
		}
	}
}

func (f *fields) errorf(name, format string, args ...any) error {
	return f.located(name, fmt.Errorf(format, args...))
}

// located puts the path of a field before an error that has none yet.
func (f *fields) located(name string, err error) error {
	if _, ok := errors.AsType[*fieldError](err); ok || err == nil {
		return err
	}
	return &fieldError{f.at(name), err}
}

// at returns the path of a field.
func (f *fields) at(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

func isNull(data json.RawMessage) bool { return string(bytes.TrimSpace(data)) == "null" }

// isVoid reports whether a value asks for nothing.
func isVoid(data json.RawMessage) bool {
	switch strings.Join(strings.Fields(string(data)), "") {
	case "null", "false", "{}", "[]", `""`:
		return true
	}
	return false
}

// elements reads a list.
func elements(path string, data json.RawMessage) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &fieldError{path, errors.New("expected a list")}
	}
	return list, nil
}

// plain returns an error of decoding without the names of Go types.
func plain(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is not what belongs here", kind.Value)
	}
	return err
}

// compact removes the white space between the parts of JSON.
func compact(data json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, data) != nil {
		return data
	}
	return out.Bytes()
}

// member is a field of an object whose order counts.
type member struct {
	name string
	data json.RawMessage
}

// orderedMembers reads an object in the order in which it is written.
func orderedMembers(data json.RawMessage) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("expected an object")
	}
	var members []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, member{name.(string), value})
	}
	return members, nil
}
