// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// maxHead bounds the head of an answer.
const maxHead = 1 << 20

// readHead reads one head of an answer and says whether the connection ends
// with that answer.
func (c *http1) readHead(toHead bool) (closes bool, err error) {
	head, err := c.peekHead()
	if err != nil {
		return false, err
	}
	asked := toHead && asksToClose(head)
	if bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		err = c.head.Read(c.br)
	} else { // which fasthttp would go on waiting for
		err = c.head.Read(bufio.NewReaderSize(bytes.NewReader(withCRLF(head)), 2*len(head)))
		c.br.Discard(len(head)) //nolint:errcheck // they are in the buffer
	}
	if toHead && c.head.ContentLength() == -2 && string(c.head.Protocol()) == "HTTP/1.1" {
		// where an answer has no length fasthttp takes it to go on until the
		// connection ends, which is not so of an answer to HEAD
		return asked, err
	}
	return c.head.ConnectionClose(), err
}

var errNoHTTP = errors.New("the answer is not HTTP/1")

// peekHead waits until a whole head is in the buffer, which grows if it must.
func (c *http1) peekHead() ([]byte, error) {
	for searched := 0; ; {
		head, _ := c.br.Peek(c.br.Buffered())
		if n := min(len(head), len(protocol)); string(head[:n]) != protocol[:n] {
			return nil, errNoHTTP
		}
		if end := endOfHead(head, searched); end > 0 {
			return head[:end], nil
		}
		searched = max(0, len(head)-len("\n\r"))
		switch {
		case len(head) < c.br.Size():
		case len(head) < maxHead:
			c.br = bufio.NewReaderSize(c.br, maxHead)
		default:
			return nil, errors.New("the head of the answer is too large")
		}
		if _, err := c.br.Peek(len(head) + 1); errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, err
		}
	}
}

// protocol is what every answer begins with.
const protocol = "HTTP/1."

// endOfHead gives the place behind the empty line, 0 if there is none from the
// given place on. Lines may end without a carriage return.
func endOfHead(head []byte, from int) int {
	for at := from; ; {
		n := bytes.IndexByte(head[at:], '\n')
		if n < 0 {
			return 0
		}
		at += n + 1
		switch rest := head[at:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return at + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return at + 2
		}
	}
}

// withCRLF gives a head in which every line ends with a carriage return.
func withCRLF(head []byte) []byte {
	lines := slices.Collect(bytes.Lines(head))
	for i, line := range lines {
		lines[i] = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	}
	return append(bytes.Join(lines, crlf), crlf...)
}

// asksToClose says whether a head has a field that ends the connection.
func asksToClose(head []byte) bool {
	for line := range bytes.Lines(head) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if equalFold(name, "connection") && bytes.Contains(bytes.ToLower(value), []byte("close")) {
			return true
		}
	}
	return false
}
