// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
)

var errNotXML = errors.New("it is not XML")

// element is an XML element on its way to JSON.
type element struct {
	name     string
	text     []byte
	children []*element
}

// parseXML reads an XML document as the JSON that it is compared as: an object
// of attributes (@name), elements by name, several of one name in an array,
// and text (#text). Text without anything else is the value itself. Space
// around text does not count, nor the order of elements of different names.
func (d *document) parseXML(source []byte) error {
	top := &element{}
	if err := readXML(xml.NewDecoder(bytes.NewReader(source)), top); err != nil {
		return err
	}
	return d.parse(top.append(nil))
}

func readXML(decoder *xml.Decoder, top *element) error {
	open := []*element{top}
	for count := 0; ; count++ {
		token, err := decoder.Token()
		if err == io.EOF && len(top.children) > 0 {
			return nil
		}
		if err != nil {
			return errNotXML
		}
		if count > maxNodes {
			return errTooMany
		}
		inside := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) == maxDepth {
				return errTooDeep
			}
			e := &element{name: qualified(t.Name)}
			for _, a := range t.Attr {
				e.children = append(e.children, &element{name: "@" + qualified(a.Name), text: []byte(a.Value)})
			}
			inside.children = append(inside.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			inside.text = append(inside.text, t...)
		}
	}
}

// qualified returns a name without its namespace, whose declaration is
// compared as the attribute that it is.
func qualified(name xml.Name) string { return name.Local }

// append appends the element's content as JSON.
func (e *element) append(dst []byte) []byte {
	content := bytes.TrimSpace(e.text)
	if len(e.children) == 0 {
		return appendString(dst, content)
	}
	// Those of one name stand together, in the order of their first.
	slices.SortStableFunc(e.children, func(a, b *element) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	dst = append(dst, '{')
	for i, child := range e.children {
		same := i > 0 && e.children[i-1].name == child.name
		more := i+1 < len(e.children) && e.children[i+1].name == child.name
		if i > 0 {
			dst = append(dst, ',')
		}
		if !same {
			dst = append(appendString(dst, []byte(child.name)), ':')
			if more {
				dst = append(dst, '[')
			}
		}
		dst = child.append(dst)
		if same && !more {
			dst = append(dst, ']')
		}
	}
	if len(content) > 0 {
		dst = append(appendString(append(dst, ','), []byte("#text")), ':')
		dst = appendString(dst, content)
	}
	return append(dst, '}')
}

// appendString appends a string of JSON. It is hardly longer than the content:
// most of a large document may be one.
func appendString(dst, content []byte) []byte {
	dst = append(dst, '"')
	for _, b := range content {
		switch {
		case b == '"', b == '\\':
			dst = append(dst, '\\', b)
		case b < ' ': // in XML these are a tab and the ends of lines
			dst = fmt.Appendf(dst, "\\u%04x", b)
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}
