// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// markField is what marks a copy, with the name of the tee that made it.
const markField = "X-Rehearsal-Copy"

// marked tells whether the request is a copy made by the tee of this name.
func marked(header http.Header, name string) bool {
	return slices.Contains(header[markField], name)
}

// upgrades tells whether the request asks for another protocol. Java's client
// offers h2c with requests that are otherwise usual, so that does not count.
func upgrades(header http.Header) bool {
	protocols := header["Upgrade"]
	return len(protocols) > 0 && !strings.EqualFold(protocols[0], "h2c") &&
		httpguts.HeaderValuesContainsToken(header["Connection"], "Upgrade")
}

// namedByConnection gives the fields that the request's Connection field names.
func namedByConnection(header http.Header) []string {
	var named []string
	for _, value := range header["Connection"] {
		for token := range strings.SplitSeq(value, ",") {
			if token = strings.TrimSpace(token); token != "" {
				named = append(named, http.CanonicalHeaderKey(token))
			}
		}
	}
	return named
}

// staysBehind tells whether a field belongs to the client's connection or to
// the framing of the message, and not to the copy.
func staysBehind(name string, named []string) bool {
	switch name {
	case "Host", "Content-Length", "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate",
		"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Http2-Settings":
		return true
	}
	return slices.Contains(named, name)
}

// leaveBehind deletes what stays behind. Of TE, handlers get to know whether the
// client takes trailers, without which gRPC servers refuse to answer.
func leaveBehind(header http.Header, named []string) {
	trailers := httpguts.HeaderValuesContainsToken(header["Te"], "trailers")
	maps.DeleteFunc(header, func(name string, _ []string) bool { return staysBehind(name, named) })
	if trailers {
		header["Te"] = []string{"trailers"}
	}
}

// appendFields writes the header's fields as on the wire, in the order of
// their names, without what stays behind.
func appendFields(dst []byte, header http.Header, named []string) []byte {
	var room [32]string
	names := room[:0]
	for name := range header {
		if !staysBehind(name, named) && isToken(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			dst = appendField(dst, name, value)
		}
	}
	return dst
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = appendOneLine(dst, value)
	return append(dst, "\r\n"...)
}

// appendOneLine keeps a value that a handler or a placeholder has put together
// from ending its line.
func appendOneLine(dst []byte, value string) []byte {
	if strings.IndexByte(value, '\n') < 0 && strings.IndexByte(value, '\r') < 0 && strings.IndexByte(value, 0) < 0 {
		return append(dst, value...)
	}
	for i := range len(value) {
		c := value[i]
		if c == '\n' || c == '\r' || c == 0 {
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst
}

func isToken(s string) bool { return httpguts.ValidHeaderFieldName(s) }
