// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"strings"
	"time"
)

// Field is what a header field is to a message on its way: part of it, or of the
// connection and the framing.
type Field uint8

// The kinds of fields.
const (
	EndToEnd         Field = iota // part of the message
	Host                          // where it goes
	ContentLength                 // the length of the body
	TransferEncoding              // chunks
	Trailer                       // the names of the fields behind the chunks
	Connection                    // names fields that are of the connection
	HopByHop                      // of the connection: Keep-Alive, Proxy-Connection, Upgrade, HTTP2-Settings
	TE                            // which encodings and trailers the sender takes
	Expect                        // whether it waits before it sends the body
	Proxy                         // between the client and a proxy: Proxy-Authenticate, Proxy-Authorization
)

// FieldOf returns the kind of the field with this name, in whatever case. The
// length of a name decides most of it.
func FieldOf[T string | []byte](name T) Field {
	switch len(name) {
	case len("TE"):
		if fold(name, "te") {
			return TE
		}
	case len("Host"):
		if fold(name, "host") {
			return Host
		}
	case len("Expect"):
		if fold(name, "expect") {
			return Expect
		}
	case len("Upgrade"): // and len("Trailer")
		if fold(name, "upgrade") {
			return HopByHop
		}
		if fold(name, "trailer") {
			return Trailer
		}
	case len("Connection"): // and len("Keep-Alive")
		if fold(name, "connection") {
			return Connection
		}
		if fold(name, "keep-alive") {
			return HopByHop
		}
	case len("Content-Length"): // and len("HTTP2-Settings")
		if fold(name, "content-length") {
			return ContentLength
		}
		if fold(name, "http2-settings") {
			return HopByHop
		}
	case len("Proxy-Connection"):
		if fold(name, "proxy-connection") {
			return HopByHop
		}
	case len("Transfer-Encoding"):
		if fold(name, "transfer-encoding") {
			return TransferEncoding
		}
	case len("Proxy-Authenticate"):
		if fold(name, "proxy-authenticate") {
			return Proxy
		}
	case len("Proxy-Authorization"):
		if fold(name, "proxy-authorization") {
			return Proxy
		}
	}
	return EndToEnd
}

// fold reports whether a text is the same as one in lower case, but for the case
// of its letters.
func fold[T string | []byte](text T, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i := range len(lower) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// IsToken reports whether a text can be a method or the name of a field.
func IsToken[T string | []byte](text T) bool {
	for i := range len(text) {
		if !tokenBytes[text[i]] {
			return false
		}
	}
	return len(text) > 0
}

var tokenBytes = func() (table [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		table[c] = true
	}
	return table
}()

// IsTarget reports whether a text can stand between the spaces of a request
// line.
func IsTarget[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return len(text) > 0
}

// OriginForm returns path and query of a target that names its server as well,
// as requests to a proxy do. Any other target is returned as it is.
func OriginForm[T string | []byte](target T) T {
	if len(target) == 0 || target[0] == '/' || target[0] == '*' {
		return target
	}
	_, rest, absolute := strings.Cut(string(target), "://")
	at := strings.IndexAny(rest, "/?")
	switch {
	case !absolute:
		return target
	case at < 0:
		return T("/")
	case rest[at] == '?':
		return T("/" + rest[at:])
	}
	return T(rest[at:])
}

// IsLine reports whether a value can stand in one line of a header.
func IsLine(value []byte) bool {
	return bytes.IndexByte(value, '\n') < 0 && bytes.IndexByte(value, '\r') < 0 && bytes.IndexByte(value, 0) < 0
}

// AppendField appends a header field with its line end. What would end the line
// before that, which no message can carry but a handler or a placeholder can put
// together, becomes a space.
func AppendField[N, V string | []byte](dst []byte, name N, value V) []byte {
	from := len(dst)
	dst = append(append(append(dst, name...), ": "...), value...)
	if line := dst[from:]; !IsLine(line) {
		for i, c := range line {
			if c == '\n' || c == '\r' || c == 0 {
				line[i] = ' '
			}
		}
	}
	return append(dst, "\r\n"...)
}

// AppendHeader appends the fields of a header, as Go has it, in no order.
func AppendHeader(dst []byte, header map[string][]string) []byte {
	for name, values := range header {
		for _, value := range values {
			dst = AppendField(dst, name, value)
		}
	}
	return dst
}

// ParseDate returns the time of a Date field in the form that servers send (RFC
// 9110, section 5.6.7), "Sun, 06 Nov 1994 08:49:37 GMT", in seconds since 1970, or
// 0 for any other text. Nothing is allocated.
func ParseDate[T string | []byte](text T) int64 {
	const form = "Sun, 06 Nov 1994 08:49:37 GMT"
	if len(text) != len(form) || text[3] != ',' || text[19] != ':' || text[22] != ':' || string(text[25:]) != " GMT" {
		return 0
	}
	var month time.Month
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); text[8] == name[0] && text[9] == name[1] && text[10] == name[2] {
			month = m
		}
	}
	ok := month > 0
	number := func(from, to int) (n int) {
		for _, digit := range []byte(text[from:to]) {
			ok = ok && isDigit(digit)
			n = n*10 + int(digit-'0')
		}
		return n
	}
	day, year := number(5, 7), number(12, 16)
	hour, minute, second := number(17, 19), number(20, 22), number(23, 25)
	if !ok || year < 1970 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return 0
	}
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix()
}
