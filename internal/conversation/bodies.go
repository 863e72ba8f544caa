// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"

	"golang.org/x/net/html"
)

// maxToken is how long an element of HTML may be before the rest of the text is
// passed over.
const maxToken = 64 << 10

// html visits what a page hands to the next request: values of inputs, contents
// of meta elements, and what is one of many in the actions of forms and links.
func (r *Reader) html(text []byte) {
	z := html.NewTokenizer(bytes.NewReader(text))
	z.SetMaxBuf(maxToken)
	for r.left > 0 {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			r.element(z)
		case html.TextToken, html.EndTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
}

func (r *Reader) element(z *html.Tokenizer) {
	tag, more := z.TagName()
	if !more {
		return
	}
	kind, nameKey, valueKey := HTMLInput, "name", "value"
	switch string(tag) {
	case "input", "button":
	case "meta":
		kind, valueKey = HTMLMeta, "content"
	case "form":
		kind, nameKey, valueKey = HTMLForm, "", "action"
	case "a":
		kind, nameKey, valueKey = HTMLLink, "", "href"
	default:
		return
	}
	var key, value, name, found []byte
	for more {
		key, value, more = z.TagAttr()
		switch {
		case string(key) == valueKey:
			found = value
		case nameKey != "" && (string(key) == nameKey || kind == HTMLMeta && string(key) == "property"):
			name = value
		}
	}
	switch {
	case nameKey == "":
		path, query := splitTarget(found)
		r.segments(path, kind, oneOfMany)
		r.parameters(query, kind)
	case len(name) > 0:
		r.value(Place{Kind: kind}, name, found)
	}
}

// Bounds of what is read of a form in parts.
const (
	maxParts    = 256     // the others are passed over
	maxPartHead = 4 << 10 // bytes of the fields of a part
)

// parts visits the members of a form as multipart/form-data. Files are passed
// over.
func (r *Reader) parts(body, boundary []byte) {
	if len(boundary) == 0 {
		return
	}
	delimiter := append([]byte("\r\n--"), boundary...)
	_, rest, found := bytes.Cut(body, delimiter[2:])
	for n := 0; found && n < maxParts && bytes.HasPrefix(rest, []byte("\r\n")); n++ {
		var part []byte
		if part, rest, found = bytes.Cut(rest, delimiter); !found {
			return // cut off
		}
		head, value, whole := bytes.Cut(part, []byte("\r\n\r\n"))
		if !whole || len(head) > maxPartHead {
			continue
		}
		for line := range bytes.Lines(head) {
			field, disposition, _ := bytes.Cut(bytes.TrimSpace(line), []byte{':'})
			if !bytes.EqualFold(field, []byte("Content-Disposition")) || parameterOf(disposition, "filename") != nil {
				continue
			}
			if name := parameterOf(disposition, "name"); len(name) > 0 {
				r.value(Place{Kind: Form}, name, value)
			}
		}
	}
}

// parameterOf returns the value of a parameter behind a field's value, nil if it
// has none.
func parameterOf(value []byte, name string) []byte {
	_, rest, _ := bytes.Cut(value, []byte{';'})
	for len(rest) > 0 {
		key, said, ok := bytes.Cut(rest, []byte{'='})
		if !ok {
			return nil
		}
		end := bytes.IndexByte(said, ';')
		if quoted := bytes.TrimLeft(said, " \t"); len(quoted) > 0 && quoted[0] == '"' {
			said = quoted[1:]
			end = bytes.IndexByte(said, '"')
		}
		if end < 0 {
			end = len(said)
		}
		if bytes.EqualFold(bytes.Trim(key, "; \t"), []byte(name)) {
			return bytes.TrimRight(said[:end], " \t")
		}
		rest = said[min(end+1, len(said)):]
	}
	return nil
}
