// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"

	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
)

// splitTarget returns path and query of a target or URL, both still escaped.
func splitTarget(target []byte) (path, query []byte) {
	target, _, _ = bytes.Cut(target, []byte{'#'})
	path, query, _ = bytes.Cut(target, []byte{'?'})
	if i := bytes.Index(path, []byte("//")); i >= 0 && (i == 0 || path[i-1] == ':') { // an authority
		if _, rest, ok := bytes.Cut(path[i+2:], []byte{'/'}); ok {
			return rest, query
		}
		return nil, query
	}
	return path, query
}

func anySegment([]byte) bool { return true }

// oneOfMany reports whether a segment of a path names one of many things.
func oneOfMany(segment []byte) bool { return endpoint.IsIdentifier(segment) || IsHighEntropy(segment) }

// segments visits the segments of a path that are wanted. They are counted from
// 1, behind the first slash, where the kind has numbers.
func (r *Reader) segments(path []byte, kind Kind, wanted func([]byte) bool) {
	path = bytes.TrimPrefix(path, []byte{'/'})
	for n := 1; n <= maxSegments && len(path) > 0; n++ {
		segment, rest, _ := bytes.Cut(path, []byte{'/'})
		path = rest
		if !wanted(segment) {
			continue
		}
		p := Place{Kind: kind}
		if kinds[kind].operand == aNumber {
			p.Segment = n
		}
		r.value(p, nil, r.unescape(segment, false))
	}
}

// parameters visits the parameters of a query or a form. Where the kind has no
// names they are left out.
func (r *Reader) parameters(query []byte, kind Kind) {
	for len(query) > 0 {
		pair, rest, _ := bytes.Cut(query, []byte{'&'})
		query = rest
		escaped, value, _ := bytes.Cut(pair, []byte{'='})
		p := Place{Kind: kind}
		if kinds[kind].operand == aName {
			if p.Name = r.name(r.unescape(escaped, true)); p.Name == "" {
				continue
			}
		}
		r.value(p, nil, r.unescape(value, true))
	}
}

// unescape returns a part of a target without its escapes; as it is if they are
// not valid. It uses the scratch memory.
func (r *Reader) unescape(text []byte, plus bool) []byte {
	escapes := "%"
	if plus {
		escapes = "%+"
	}
	if !bytes.ContainsAny(text, escapes) {
		return text
	}
	out := r.scratch[:0]
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '%':
			if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
				return text
			}
			out = append(out, digit(text[i+1])<<4|digit(text[i+2]))
			i += 2
		case c == '+' && plus:
			out = append(out, ' ')
		default:
			out = append(out, c)
		}
	}
	r.scratch = out
	return out
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func digit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
