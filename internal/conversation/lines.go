// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// lineReader reads a JSON text piece by piece, so that the line is known of what
// is wrong.
type lineReader struct {
	data    []byte
	decoder *json.Decoder
	at      int64 // the offset of what was read last, -1: where the decoder is
}

func newLineReader(data []byte) *lineReader {
	return &lineReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data)), at: -1}
}

// line returns the line of what was read last.
func (r *lineReader) line() int {
	at := r.at
	if at < 0 {
		at = r.decoder.InputOffset()
	}
	return 1 + bytes.Count(r.data[:min(at, int64(len(r.data)))], []byte("\n"))
}

// mark remembers where the next value begins, for its line.
func (r *lineReader) mark() {
	at := r.decoder.InputOffset()
	for at < int64(len(r.data)) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	r.at = at
}

// fault returns the error of the decoder, and has the line of it.
func (r *lineReader) fault(err error) error {
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		r.at = max(wrong.Offset-1, 0)
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.at = int64(len(bytes.TrimRight(r.data, " \t\r\n")))
		return errors.New("it is not JSON: it ends too early")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("expected a %s, not a %s", plainType(wrong.Type.Kind().String()), wrong.Value)
	}
	return err
}

// plainType returns what a user of JSON calls one of Go's kinds.
func plainType(kind string) string {
	switch kind {
	case "int", "float64":
		return "number"
	}
	return "string"
}

// value reads a value that is no object or array.
func (r *lineReader) value(to any) error {
	r.mark()
	var raw json.RawMessage
	if err := r.decoder.Decode(&raw); err != nil {
		return r.fault(err)
	}
	if string(raw) == "null" {
		return errors.New("null is not taken: expected a value")
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return r.fault(err)
	}
	return nil
}

// open reads the beginning of an object or array.
func (r *lineReader) open(delimiter json.Delim, what string) error {
	r.mark()
	token, err := r.decoder.Token()
	if err != nil {
		return r.fault(err)
	}
	if token != delimiter {
		return fmt.Errorf("expected %s", what)
	}
	return nil
}

// close reads its end.
func (r *lineReader) close() error {
	if _, err := r.decoder.Token(); err != nil {
		return r.fault(err)
	}
	return nil
}

// array calls element for each element, which has to read it.
func (r *lineReader) array(element func() error) error {
	if err := r.open('[', "a list: ["); err != nil {
		return err
	}
	for r.decoder.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return r.close()
}

// members calls member for each member of an object, which has to read its
// value.
func (r *lineReader) members(member func(name string) error) error {
	if err := r.open('{', "an object: {"); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for r.decoder.More() {
		r.mark()
		token, err := r.decoder.Token()
		if err != nil {
			return r.fault(err)
		}
		name, _ := token.(string)
		if seen[name] {
			return fmt.Errorf("member '%s' is there twice", name)
		}
		seen[name] = true
		if err := member(name); err != nil {
			return err
		}
	}
	return r.close()
}

// object reads an object of known members, some of which it must have.
func (r *lineReader) object(known map[string]func() error, needed ...string) error {
	begin := r.decoder.InputOffset()
	read := make(map[string]bool)
	err := r.members(func(name string) error {
		read[name] = true
		if f := known[name]; f != nil {
			return f()
		}
		return fmt.Errorf("member '%s' is not known: expected %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	})
	if err != nil {
		return err
	}
	for _, name := range needed {
		if !read[name] {
			for r.at = begin; r.data[r.at] != '{'; {
				r.at++
			}
			return fmt.Errorf("member '%s' is missing", name)
		}
	}
	return nil
}

// end refuses what follows the value.
func (r *lineReader) end() error {
	r.mark()
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("nothing must follow the object")
	}
	return nil
}
