// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// MinSecret is from how many bytes on a value is looked for wherever it may
// stand: a shorter one stands there by chance as well.
const MinSecret = 16

// Secret is a value in all the forms in which a request may have it: as it is,
// escaped for URLs and JSON, in base64, or within something in base64.
type Secret struct {
	Value string
	forms [][]byte
	cores [][]byte // what base64 has of it wherever it begins
}

// NewSecret returns the forms of a value of MinSecret bytes or more.
func NewSecret(value string) *Secret {
	s := &Secret{Value: value}
	for _, escape := range escapes {
		s.forms = appendNew(s.forms, []byte(escape(value)))
	}
	for _, coding := range base64Codings {
		for lead := range 3 {
			s.cores = appendNew(s.cores, core(coding, value, lead))
		}
	}
	return s
}

// escapes are the forms of a value that it can be found in at once.
var escapes = []func(string) string{
	func(value string) string { return value },
	url.QueryEscape,
	url.PathEscape,
	func(value string) string { return lowerHex(url.QueryEscape(value)) },
	func(value string) string { return lowerHex(url.PathEscape(value)) },
	func(value string) string { return inner(quote(value)) },
	func(value string) string { return strings.ReplaceAll(inner(quote(value)), "/", `\/`) },
	func(value string) string { text, _ := json.Marshal(value); return inner(text) }, //nolint:errchkjson // a string
}

func inner(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }

// lowerHex writes percent-encoding with small letters.
func lowerHex(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

var base64Codings = []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding}

// core returns the characters of base64 that depend on the value alone, where so
// many bytes of something else stand before it.
func core(coding *base64.Encoding, value string, lead int) []byte {
	text := coding.EncodeToString(append(make([]byte, lead), value...))
	first := []int{0, 2, 3}[lead]
	last := len(text)
	if (lead+len(value))%3 != 0 {
		last-- // it has bits of what follows
	}
	return []byte(text[first:last])
}

func appendNew(all [][]byte, text []byte) [][]byte {
	if slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(other, text) }) {
		return all
	}
	return append(all, text)
}

// In reports whether a text has the value in any form.
func (s *Secret) In(text []byte) bool {
	in := func(form []byte) bool { return bytes.Contains(text, form) }
	return slices.ContainsFunc(s.forms, in) || slices.ContainsFunc(s.cores, in)
}

// Has reports whether the request has a value in any form: in its target, its
// fields or its body.
func (d *Draft) Has(s *Secret) bool {
	return s.In(d.request.URI) || s.In(d.request.Headers) || s.In(d.Body())
}

// Replacement is a value that is to stand wherever another does.
type Replacement struct {
	Secret *Secret
	By     string
	Found  bool // Replace has found it
}

// Replace replaces values wherever they stand, the longest first where they
// overlap. It puts them in this order, and notes which were found.
func (d *Draft) Replace(all []Replacement) {
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b Replacement) int { return len(b.Secret.Value) - len(a.Secret.Value) })
	path, query := cut(d.request.URI, '?')
	newPath, ok := replaceIn(path, all, url.PathEscape)
	newQuery, also := replaceIn(query, all, url.QueryEscape)
	if ok || also {
		target := slices.Clone(newPath)
		if len(path) < len(d.request.URI) {
			target = append(append(target, '?'), newQuery...)
		}
		d.SetTarget(target)
	}
	d.Fields(func(_, value []byte) ([]byte, bool) {
		changed, _ := replaceIn(value, all, asIs)
		return changed, true
	})
	escape := asIs
	switch body := d.Body(); {
	case d.kind == "application/x-www-form-urlencoded":
		escape = url.QueryEscape
	case strings.HasSuffix(d.kind, "json"), len(body) > 0 && (body[0] == '{' || body[0] == '['):
		escape = func(value string) string { return inner(quote(value)) }
	}
	if body, ok := replaceIn(d.Body(), all, escape); ok {
		d.SetBody(body)
	}
}

func asIs(value string) string { return value }

// replaceIn replaces values in one text, and reports whether there were any. It
// goes through the text once: what was put in is not looked at again. A value
// whose form does not show how it is escaped is escaped as given.
func replaceIn(text []byte, all []Replacement, escape func(string) string) (out []byte, changed bool) {
	done := 0
	for {
		at, end, by, which := len(text), 0, "", 0
		for i := range all {
			if from, to, with, ok := all[i].find(text, done, escape); ok && from < at {
				at, end, by, which = from, to, with, i
			}
		}
		if end == 0 {
			break
		}
		all[which].Found = true
		out = append(append(out, text[done:at]...), by...)
		done, changed = end, true
	}
	if !changed {
		return text, false
	}
	return append(out, text[done:]...), true
}

// find returns where a text has the value first, from a place on, and what is
// to stand there.
func (r *Replacement) find(text []byte, from int, escape func(string) string) (begin, end int, with string, ok bool) {
	begin = len(text)
	for _, form := range r.Secret.forms {
		if n := bytes.Index(text[from:], form); n >= 0 && from+n < begin {
			begin, end, with, ok = from+n, from+n+len(form), r.as(string(form), escape), true
		}
	}
	for _, form := range r.Secret.cores {
		for at := from; ; {
			n := bytes.Index(text[at:], form)
			if n < 0 || at+n >= begin {
				break
			}
			if b, e, repacked, found := r.within(text, from, at+n, len(form)); found && b < begin {
				begin, end, with, ok = b, e, repacked, true
				break
			}
			at += n + 1
		}
	}
	return begin, end, with, ok
}

// as returns the new value in the form in which the old one was found.
func (r *Replacement) as(form string, escape func(string) string) string {
	if escape(r.Secret.Value) == form {
		return escape(r.By)
	}
	for _, escape := range escapes {
		if escape(r.Secret.Value) == form {
			return escape(r.By)
		}
	}
	return r.By
}

// within replaces a value inside what is base64 around a place, and returns
// where that begins and ends.
func (r *Replacement) within(text []byte, from, at, length int) (begin, end int, with string, ok bool) {
	first, last := at, at+length
	for first > from && isBase64(text[first-1]) {
		first--
	}
	for last < len(text) && isBase64(text[last]) {
		last++
	}
	if first > 0 && text[first-1] == '.' || last < len(text) && text[last] == '.' {
		return 0, 0, "", false // part of a token that is signed
	}
	ends := []int{last}
	if slash := bytes.IndexByte(text[at+length:last], '/'); slash >= 0 { // it may be the path's
		ends = append(ends, at+length+slash)
	}
	for _, begin := range begins(text, first, at) {
		for _, end := range ends {
			if with, end, ok = r.repack(text, begin, end); ok {
				return begin, end, with, true
			}
		}
	}
	return 0, 0, "", false
}

// begins returns where what is base64 may begin: at the first of its characters,
// or behind a slash, which may be the path's.
func begins(text []byte, first, at int) []int {
	const few = 8
	all := []int{first}
	for i := at - 1; i >= first && len(all) < few; i-- {
		if text[i] == '/' {
			all = append(all, i+1)
		}
	}
	return all
}

// repack replaces the value inside base64, and returns where that ends with its
// padding.
func (r *Replacement) repack(text []byte, begin, end int) (with string, padded int, ok bool) {
	padded = end
	for padded < len(text) && text[padded] == '=' && padded-end < 2 {
		padded++
	}
	codings := base64Codings
	if padded == end && (end-begin)%4 != 0 { // as it goes in URLs
		codings = []*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding}
	}
	for _, coding := range codings {
		said, err := coding.DecodeString(string(text[begin:end]))
		if err != nil || !bytes.Contains(said, []byte(r.Secret.Value)) {
			continue
		}
		with = coding.EncodeToString(bytes.ReplaceAll(said, []byte(r.Secret.Value), []byte(r.By)))
		if padded > end || coding == base64.RawStdEncoding && (end-begin)%4 == 0 {
			with += strings.Repeat("=", (4-len(with)%4)%4)
		}
		return with, padded, true
	}
	return "", 0, false
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}
