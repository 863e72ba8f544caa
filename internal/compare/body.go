// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/coding"
)

// content is what a body turned out to be.
type content string

const (
	isJSON   content = "JSON"
	isXML    content = "XML"
	isText   content = "text"
	isBinary content = "binary"
)

// compareBody compares bodies and reports whether they are the same bytes.
func (c *Comparer) compareBody(old, new *Response) (same bool) {
	oldPacking, newPacking := value(c.oldFields, "Content-Encoding"), value(c.newFields, "Content-Encoding")
	if bytes.Equal(old.Body, new.Body) && bytes.Equal(oldPacking, newPacking) {
		if old.cut() || new.cut() {
			c.partial(Truncated)
		}
		return true
	}
	c.at("body")
	a, errA := c.unpack(&c.oldBody, old, oldPacking)
	b, errB := c.unpack(&c.newBody, new, newPacking)
	if err := errors.Join(errA, errB); err != nil {
		why := BadEncoding
		if errors.Is(err, coding.ErrTooLarge) {
			why = TooLarge
		}
		c.partial(why)
		c.differ(Changed, c.digest(old.Body), c.digest(new.Body))
		return false
	}
	switch {
	case bytes.Equal(a, b):
	case old.cut() || new.cut():
		c.partial(Truncated)
		if n := min(len(a), len(b)); !bytes.Equal(a[:n], b[:n]) {
			c.differ(Changed, c.digest(a), c.digest(b))
		}
	case len(a) == 0:
		c.differ(Added, nil, c.digest(b))
	case len(b) == 0:
		c.differ(Missing, c.digest(a), nil)
	default:
		c.compareContent(a, b)
	}
	return false
}

// unpack returns the content of a body, in the memory of a buffer if it was
// packed. What was cut when it was kept is unpacked as far as it goes, and what
// is packed in no known way is its own content.
func (c *Comparer) unpack(buffer *[]byte, r *Response, packing []byte) ([]byte, error) {
	if len(packing) == 0 {
		return r.Body, nil
	}
	content, err := c.unpacker.Unpack(*buffer, r.Body, packing, min(c.rules.maxBody, largeBody))
	if errors.Is(err, coding.ErrTooLarge) && c.rules.maxBody > largeBody {
		c.large()
		content, err = c.unpacker.Unpack(*buffer, r.Body, packing, c.rules.maxBody)
	}
	switch {
	case errors.Is(err, coding.ErrUnknown):
		return r.Body, nil
	case r.cut() && errors.Is(err, io.ErrUnexpectedEOF):
		err = nil
	}
	if len(content) > 0 && len(r.Body) > 0 && &content[0] != &r.Body[0] {
		*buffer = content
	}
	return content, err
}

// Unpacked returns the content of a response's body for people to read, at most
// limit bytes of it. What cannot be unpacked is returned as it is.
func Unpacked(r *Response, limit int) []byte {
	var unpacker coding.Unpacker
	content, err := unpacker.Unpack(nil, r.Body, value(appendFields(nil, r.Header), "Content-Encoding"), limit)
	if err != nil && len(content) == 0 {
		content = r.Body
	}
	return content[:min(len(content), limit)]
}

func (c *Comparer) large() {
	if c.Large != nil {
		c.Large()
	}
}

func (c *Comparer) compareContent(old, new []byte) {
	if max(len(old), len(new)) > largeBody {
		c.large()
	}
	a, errA := c.read(&c.oldDoc, nil, old, value(c.oldFields, "Content-Type"))
	like := &c.oldDoc
	if a != isJSON {
		like = nil
	}
	b, errB := c.read(&c.newDoc, like, new, value(c.newFields, "Content-Type"))
	if err := errors.Join(errA, errB); err != nil {
		why := TooMany
		if errors.Is(err, errTooDeep) {
			why = TooDeep
		}
		c.partial(why)
		c.differ(Changed, c.digest(old), c.digest(new))
		return
	}
	switch {
	case a != b && (a == isJSON || a == isXML || b == isJSON || b == isXML):
		c.differ(Type, c.describe(a, old), c.describe(b, new))
	case a == isJSON, a == isXML:
		c.at("$")
		w := walk{c: c, old: &c.oldDoc, new: &c.newDoc, xml: a == isXML}
		w.value(0, 0, c.rules.ignore, c.rules.unordered)
	case a == isText && b == isText && c.compareLines(old, new):
	default:
		c.differ(Changed, c.digest(old), c.digest(new))
	}
}

// read returns what a body is; JSON and XML are parsed into d then. It fails
// for a document that is too deep or too large. JSON may be like another document,
// unless that is nil.
func (c *Comparer) read(d, like *document, body, contentType []byte) (content, error) {
	start := bytes.TrimLeft(body, " \t\r\n")
	what := strings.ToLower(string(contentType))
	if len(start) > 0 && (start[0] == '{' || start[0] == '[' || strings.Contains(what, "json")) {
		var err error
		if like != nil {
			err = d.parseLike(body, like)
		} else {
			err = c.model.parse(d, body)
		}
		if err == nil {
			return isJSON, nil
		}
		if !errors.Is(err, errNotJSON) {
			return "", err
		}
	}
	if bytes.HasPrefix(start, []byte("<?xml")) || strings.Contains(what, "xml") && len(start) > 0 && start[0] == '<' {
		err := d.parseXML(body)
		if err == nil {
			return isXML, nil
		}
		if !errors.Is(err, errNotXML) {
			return "", err
		}
	}
	if bytes.IndexByte(body, 0) < 0 && (strings.HasPrefix(what, "text/") || utf8.Valid(body)) {
		return isText, nil
	}
	return isBinary, nil
}
