// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// JSON changes the values at a path of a body that is JSON: strings, numbers
// and names like true. What was no string stays none if it can. It reports
// whether anything was changed, which it is not where the body is JSON in part
// only.
func (d *Draft) JSON(path jsonpath.Path, change Change) bool {
	body := d.Body()
	if len(body) == 0 {
		return false
	}
	j := &jsonChange{body: body, decoder: json.NewDecoder(bytes.NewReader(body)), change: change}
	j.decoder.UseNumber()
	for {
		if err := j.value(path, true); err != nil {
			if err == io.EOF && j.done > 0 { //nolint:errorlint // as Token returns it
				d.SetBody(append(j.out, body[j.done:]...))
				return true
			}
			return false
		}
	}
}

// jsonChange goes through a document.
type jsonChange struct {
	body    []byte
	decoder *json.Decoder
	change  Change
	out     []byte
	done    int // what comes before it is in out
	depth   int
}

// maxDepth is how deep a document is looked into.
const maxDepth = 1000

var (
	errTooDeep = errors.New("it is too deep")
	errBroken  = errors.New("it is no JSON")
)

// value passes over one value, at the end of the path if there is no step left
// and it is on the path.
func (j *jsonChange) value(path jsonpath.Path, on bool) error {
	before := j.decoder.InputOffset()
	token, err := j.decoder.Token()
	if err != nil {
		return err
	}
	if delim, ok := token.(json.Delim); ok {
		return j.inside(delim, path, on)
	}
	if !on || len(path) > 0 || token == nil {
		return nil
	}
	to := int(j.decoder.InputOffset())
	from := int(before)
	for from < to && bytes.IndexByte([]byte(" \t\r\n,:"), j.body[from]) >= 0 {
		from++
	}
	value, isText := token.(string)
	if !isText {
		value = string(j.body[from:to])
	}
	changed, ok := j.change(value)
	if !ok {
		return nil
	}
	text := []byte(changed)
	if isText || !json.Valid(text) {
		text = quote(changed)
	}
	j.out = append(append(j.out, j.body[j.done:from]...), text...)
	j.done = to
	return nil
}

// inside passes over the rest of an object or array.
func (j *jsonChange) inside(begin json.Delim, path jsonpath.Path, on bool) error {
	if j.depth++; j.depth > maxDepth {
		return errTooDeep
	}
	defer func() { j.depth-- }()
	for j.decoder.More() {
		leads := on && len(path) > 0
		if begin == '{' {
			name, err := j.decoder.Token()
			if err != nil {
				return err
			}
			leads = leads && (path[0].Any || path[0].Name == name)
		} else {
			leads = leads && path[0].Any
		}
		var rest jsonpath.Path
		if leads {
			rest = path[1:]
		}
		if err := j.value(rest, leads); err != nil {
			return errors.Join(errBroken, err)
		}
	}
	if _, err := j.decoder.Token(); err != nil {
		return errors.Join(errBroken, err)
	}
	return nil
}

// quote returns a JSON string, with no more escapes than there have to be.
func quote(text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.Encode(text) //nolint:errcheck // a string in memory
	return bytes.TrimRight(out.Bytes(), "\n")
}
