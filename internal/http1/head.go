// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	switchingProtocols = 101
	noContent          = 204
	notModified        = 304
)

// AllowsBody reports whether a response with this status may have a body.
func AllowsBody(status int) bool {
	return status >= 200 && status != noContent && status != notModified
}

// HasBody reports whether the response with this status to a request with this
// method has a body, if only an empty one, whatever its header says (RFC 9112,
// section 6.3).
func HasBody[T string | []byte](method T, status int) bool {
	return AllowsBody(status) && string(method) != "HEAD" && !tunnels(method, status)
}

// tunnels reports whether the connection is a tunnel from this response on.
func tunnels[T string | []byte](method T, status int) bool {
	return status == switchingProtocols || string(method) == "CONNECT" && status/100 == 2
}

// head is what the end of a response and of its connection depend on.
type head struct {
	status, minor    int
	length           int64 // -1: none was given
	encoded, chunked bool  // by Transfer-Encoding, and in the end into chunks
	closes, stays    bool  // what Connection asks for
	location         []byte
	date             int64
}

// persistent reports whether the connection may carry another exchange after a
// response that has an end.
func (h *head) persistent() bool {
	return !h.closes && (h.minor > 0 || h.stays) && (!h.encoded || h.length < 0 && h.minor > 0)
}

// delimited reports whether the body has an end before that of the connection.
func (h *head) delimited() bool { return h.chunked || !h.encoded && h.length >= 0 }

// parse reads a head that ends with its empty line. Lines may end without a
// carriage return.
func (h *head) parse(raw []byte) error {
	*h = head{length: -1}
	line, rest := cutLine(raw)
	if err := h.parseStatus(line); err != nil {
		return err
	}
	framing := false // the line before this one was about it
	for line, rest = cutLine(rest); len(line) > 0; line, rest = cutLine(rest) {
		if line[0] == ' ' || line[0] == '\t' { // continues the line before
			if framing {
				return errors.New("a field that frames the response has two lines")
			}
			continue
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 0 || !IsToken(line[:colon]) {
			return fmt.Errorf("'%.40s' is not a header field", line)
		}
		var err error
		if framing, err = h.field(line[:colon], line[colon+1:]); err != nil {
			return err
		}
	}
	return nil
}

// cutLine returns the first line without its end, and what follows.
func cutLine(b []byte) (line, rest []byte) {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return b, nil
	}
	line = b[:n]
	if n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, b[n+1:]
}

// parseStatus reads the status line, whose reason may be missing.
func (h *head) parseStatus(line []byte) error {
	const at = len(protocol + "1 ")
	ok := len(line) >= at+3 && isDigit(line[at-2]) && line[at-1] == ' ' && (len(line) == at+3 || line[at+3] == ' ')
	for i := range 3 {
		if ok = ok && isDigit(line[at+i]); ok {
			h.status = h.status*10 + int(line[at+i]-'0')
		}
	}
	if !ok || h.status < 100 {
		return fmt.Errorf("'%.40s' is not a status line", line)
	}
	h.minor = int(line[at-2] - '0')
	return nil
}

// field looks at one field and reports whether it frames the response.
func (h *head) field(name, value []byte) (framing bool, err error) {
	switch len(name) {
	case len("Location"):
		if h.status/100 == 3 && fold(name, "location") {
			h.location = trim(value)
		}
		return false, nil
	case len("Date"):
		if fold(name, "date") {
			h.date = ParseDate(trim(value))
		}
		return false, nil
	case len("Connection"), len("Content-Length"), len("Transfer-Encoding"):
	default:
		return false, nil
	}
	switch FieldOf(name) {
	case Connection:
		for option := range bytes.SplitSeq(value, []byte(",")) {
			option = trim(option)
			h.closes = h.closes || fold(option, "close")
			h.stays = h.stays || fold(option, "keep-alive")
		}
	case ContentLength:
		return true, h.contentLength(value)
	case TransferEncoding:
		for coding := range bytes.SplitSeq(value, []byte(",")) {
			if coding = trim(coding); !fold(coding, "identity") && len(coding) > 0 {
				h.encoded, h.chunked = true, fold(coding, "chunked")
			}
		}
	case EndToEnd, Host, Trailer, HopByHop, TE, Expect, Proxy:
		return false, nil
	}
	return true, nil
}

// contentLength reads the length. The same one more than once is one (RFC 9110,
// section 8.6).
func (h *head) contentLength(value []byte) error {
	for text := range bytes.SplitSeq(value, []byte(",")) {
		text = trim(text)
		var n int64
		ok := len(text) > 0 && len(text) <= 18
		for _, c := range text {
			ok = ok && isDigit(c)
			n = n*10 + int64(c-'0')
		}
		if !ok || h.length >= 0 && h.length != n {
			return fmt.Errorf("'%.40s' is not the length of a body", trim(value))
		}
		h.length = n
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func trim(value []byte) []byte { return bytes.Trim(value, " \t") }
