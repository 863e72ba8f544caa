// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import "bytes"

// fieldKind says what a recorded field is when its request goes over another
// connection.
type fieldKind uint8

const (
	plain fieldKind = iota // part of the request
	hostField
	contentLength
	transferEncoding
	connectionField // about the recorded connection only
	trailer
)

// kindOf classifies a field by its name, whose length decides most of it.
func kindOf(name []byte) fieldKind {
	switch len(name) {
	case len("Host"):
		if equalFold(name, "host") {
			return hostField
		}
	case len("Upgrade"): // and len("Trailer")
		if equalFold(name, "upgrade") {
			return connectionField
		}
		if equalFold(name, "trailer") {
			return trailer
		}
	case len("Connection"): // and len("Keep-Alive")
		if equalFold(name, "connection") || equalFold(name, "keep-alive") {
			return connectionField
		}
	case len("Content-Length"): // and len("HTTP2-Settings")
		if equalFold(name, "content-length") {
			return contentLength
		}
		if equalFold(name, "http2-settings") {
			return connectionField
		}
	case len("Proxy-Connection"):
		if equalFold(name, "proxy-connection") {
			return connectionField
		}
	case len("Transfer-Encoding"):
		if equalFold(name, "transfer-encoding") {
			return transferEncoding
		}
	}
	return plain
}

func equalFold(name []byte, other string) bool {
	return len(name) == len(other) && bytes.EqualFold(name, []byte(other))
}

// isToken says whether the bytes can be a method or the name of a field.
func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenBytes[c] {
			return false
		}
	}
	return len(b) > 0
}

var tokenBytes = func() (table [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		table[c] = true
	}
	return table
}()

// isTarget says whether the bytes can stand between the spaces of a request line.
func isTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}
