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
